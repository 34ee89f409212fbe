// The wire contract's documents, as far as the pages read them.

export type Phase =
  | "scheduled" | "registration" | "drawing" | "open" | "paused" | "returns_only" | "sold_out" | "closed";

export interface RoomDocument {
  event: string;
  title: string;
  phase: Phase;
  server_time: string;
  registration_opens_at: string;
  onsale_at: string;
  closes_at: string;
  serving: number;
  queued: number;
  admit_rate_per_minute: number;
  version: number;
  poll: { floor_ms: number; ceiling_ms: number; jitter: number };
  message: Record<string, string>;
}

export interface ChallengeDocument {
  challenge: string;
  puzzles: number;
  difficulty: number;
  salt: string;
  expires_at: string;
  server_time: string;
}

export interface Joined {
  ticket: string;
  position: number | null;
  ahead_of_you: number | null;
  poll_after_ms: number;
  server_time: string;
}

export interface Eta {
  p50_seconds: number;
  p90_seconds: number;
}

export interface Standing {
  phase: Phase;
  position: number | null;
  ahead_of_you: number | null;
  eta: Eta | null;
  may_ask: boolean;
  poll_after_ms: number;
  reason?: string;
}

/** 200 carries the token, 202 the time to ask again. */
export interface AdmissionAnswer {
  admission_token?: string;
  expires_at?: string;
  position?: number;
  poll_after_ms?: number;
}

export interface SessionAnswer {
  session_token: string;
  expires_at: string;
}

export interface LayoutDocument {
  layout_id: string;
  seats: LayoutSeat[];
  areas: { area: string; capacity: number; category: string }[];
  categories: LayoutCategory[];
}

export interface LayoutSeat {
  seat_id: string;
  section: string;
  row: string;
  number: string;
  x: number;
  y: number;
  category: string;
  accessible?: boolean;
  companion?: boolean;
  restricted_view?: boolean;
}

export interface LayoutCategory {
  id: string;
  name: string;
  price: number | null;
  currency: string | null;
}

export interface SeatChanges {
  version: number;
  available: number[];
  held: number[];
  sold: number[];
}

export interface Hold {
  hold_id: string;
  seat_ids: string[];
  expires_at: string;
  expires_in?: number;
  total: number;
  currency: string;
  /** A hold is prolonged once. */
  extended?: boolean;
}

/** The catalogue's entry, as far as it is shown. */
export interface CatalogueEvent {
  title: string;
  /** Local at the venue, without an offset. */
  starts_at: string;
  timezone: string;
  event_ticket_limit: number;
}

export type OrderStatus =
  | "payment_pending" | "requires_action" | "payment_unknown" | "authorized" | "confirmed" | "captured"
  | "payment_failed" | "expired" | "voided" | "refund_pending" | "refunded" | "refund_failed" | "claim";

export interface Order {
  order_id: string;
  status: OrderStatus;
  booking_id?: string | null;
  claim_id?: string | null;
  polling_url?: string;
  payment_ref?: string;
  decline_code?: string | null;
}

export interface Booking {
  booking_id: string;
  order_id: string;
  event: string;
  seat_ids: string[];
  total: number;
  currency: string;
  status: "confirmed" | "canceled" | "refund_pending" | "refunded";
  created_at: string;
}

export interface BookingsPage {
  bookings: Booking[];
  next_cursor: string | null;
}
