// Money is integer minor units with ISO 4217 exponents (JPY 0, EUR 2, KWD 3); Intl knows them.

export function format(minor: number, currency: string, locale: string): string {
  return formatter(minor, currency, locale, "symbol");
}

/** For names read aloud: "45 euros" rather than "€45.00". */
export function spoken(minor: number, currency: string, locale: string): string {
  return formatter(minor, currency, locale, "name");
}

export function exponent(currency: string): number {
  return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

const cache = new Map<string, Intl.NumberFormat>();

function formatter(minor: number, currency: string, locale: string, display: "symbol" | "name"): string {
  const digits = exponentOnce(currency);
  const amount = minor / 10 ** digits;
  const whole = display === "name" && Number.isInteger(amount);
  const key = `${locale} ${currency} ${display} ${whole}`;
  let format = cache.get(key);
  if (format === undefined) {
    const fraction = whole ? 0 : digits;
    format = new Intl.NumberFormat(locale, {
      style: "currency", currency, currencyDisplay: display, minimumFractionDigits: fraction, maximumFractionDigits: fraction,
    });
    cache.set(key, format);
  }
  return format.format(amount);
}

const exponents = new Map<string, number>();

function exponentOnce(currency: string): number {
  let digits = exponents.get(currency);
  if (digits === undefined) {
    digits = exponent(currency);
    exponents.set(currency, digits);
  }
  return digits;
}
