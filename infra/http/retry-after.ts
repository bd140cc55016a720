export const RETRY_AFTER_MAX_MS = 24 * 60 * 60 * 1_000;

const DIGITS_MAX = 9;

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A date has one of these three forms (RFC 9110, section 5.6.7); `Date.parse` would accept far more. */
const IMF_FIXDATE = /^(\w{3}), (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const RFC850_DATE = /^(\w{3})\w{3,6}, (\d{2})-(\w{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const ASCTIME_DATE = /^(\w{3}) (\w{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

const fieldsOf = (text: string, nowMs: number): readonly string[] | null => {
  const fixed = IMF_FIXDATE.exec(text);
  if (fixed !== null) return fixed.slice(1);
  const old = RFC850_DATE.exec(text);
  if (old !== null) {
    const [name = "", day = "", month = "", year = "", ...time] = old.slice(1);
    // A year that seems more than 50 years ahead is taken for the last past year with these two digits.
    const thisYear = new Date(nowMs).getUTCFullYear();
    const near = Math.floor(thisYear / 100) * 100 + Number(year);
    return [name, day, month, String(near > thisYear + 50 ? near - 100 : near), ...time];
  }
  const asctime = ASCTIME_DATE.exec(text);
  if (asctime === null) return null;
  const [name = "", month = "", day = "", hour = "", minute = "", second = "", year = ""] = asctime.slice(1);
  return [name, day.trim(), month, year, hour, minute, second];
};

const dateMs = (text: string, nowMs: number): number | null => {
  const fields = fieldsOf(text, nowMs);
  if (fields === null) return null;
  const [name = "", dayText = "", monthText = ""] = fields;
  const [year = 0, hour = 0, minute = 0, second = 0] = fields.slice(3).map(Number);
  const [day, month] = [Number(dayText), MONTHS.indexOf(monthText)];
  if (!DAYS.includes(name) || month < 0 || hour > 23 || minute > 59 || second > 60) return null;
  const ms = Date.UTC(year, month, day, hour, minute, Math.min(second, 59));
  return new Date(ms).getUTCDate() === day ? ms : null;
};

/** The wait that is asked for, in ms; null if it is neither seconds nor a date (RFC 9110, section 10.2.3). */
export const retryAfterMs = (value: string | undefined, nowMs: number): number | null => {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) {
    const digits = text.replace(/^0+(?=\d)/, "");
    if (digits.length > DIGITS_MAX) return RETRY_AFTER_MAX_MS;
    return Math.min(Number(digits) * 1_000, RETRY_AFTER_MAX_MS);
  }
  const at = dateMs(text, nowMs);
  return at === null ? null : Math.min(Math.max(0, at - nowMs), RETRY_AFTER_MAX_MS);
};
