// What a fan's browser keeps per event, in IndexedDB: the key, the ticket, the admission token that
// is being redeemed, the session token (for `ath`; the cookie is HttpOnly), and purchases under way.
// Several tabs share it, so creation is "put if absent" inside one transaction.

import { generate, type Identity } from "./identity";

export interface Purchase {
  holdId: string;
  /** One per attempt: kept through retries and reloads, renewed after a decline. */
  idempotencyKey: string;
  method: string;
  orderId: string | null;
  /** For the success page, when the hold can no longer be read. */
  seatIds: string[];
}

interface Kept {
  key: Identity;
  ticket: string;
  admission: string;
  session: string;
  purchase: Purchase;
}

const DATABASE = "fairgate";
const STORE = "kept";

/** The browser refuses to keep anything (private mode of old browsers, full disk, policy). */
export class StorageRefused extends Error {}
/** The browser has no usable WebCrypto (http on a foreign host, very old browser). */
export class CryptoMissing extends Error {}

export class EventStore {
  private constructor(private readonly database: IDBDatabase, readonly event: string) {}

  static async open(event: string): Promise<EventStore> {
    if (typeof indexedDB === "undefined") throw new StorageRefused("no IndexedDB");
    try {
      const request = indexedDB.open(DATABASE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      return new EventStore(await done(request), event);
    } catch (cause) {
      throw new StorageRefused("IndexedDB would not open", { cause });
    }
  }

  get<N extends keyof Kept>(name: N): Promise<Kept[N] | undefined> {
    return done(this.#store("readonly").get(this.#path(name)) as IDBRequest<Kept[N] | undefined>);
  }

  async put<N extends keyof Kept>(name: N, value: Kept[N]): Promise<void> {
    await done(this.#store("readwrite").put(value, this.#path(name)));
  }

  async remove(...names: (keyof Kept)[]): Promise<void> {
    const store = this.#store("readwrite");
    await Promise.all(names.map((name) => done(store.delete(this.#path(name)))));
  }

  /** The event's key, made now if there is none; two tabs at once end up with the same one. */
  async identity(): Promise<Identity> {
    const known = await this.get("key");
    if (known !== undefined) return known;
    if (globalThis.crypto?.subtle === undefined) throw new CryptoMissing("no crypto.subtle");
    try {
      return await this.#keepFirst(await generate("Ed25519"));
    } catch {
      // No Ed25519 here, or it cannot be stored: P-256 works in every browser with WebCrypto.
    }
    const fallback = await generate("P-256");
    try {
      return await this.#keepFirst(fallback);
    } catch (cause) {
      throw new StorageRefused("the key could not be kept", { cause });
    }
  }

  async #keepFirst(candidate: Identity): Promise<Identity> {
    const store = this.#store("readwrite");
    const path = this.#path("key");
    const known = await done(store.get(path) as IDBRequest<Identity | undefined>);
    if (known !== undefined) return known;
    await done(store.put(candidate, path));
    return candidate;
  }

  #store(mode: IDBTransactionMode): IDBObjectStore {
    return this.database.transaction(STORE, mode).objectStore(STORE);
  }

  #path(name: keyof Kept): string {
    return `${this.event}/${name}`;
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("IndexedDB failed"));
  });
}
