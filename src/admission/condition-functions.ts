import {
  type CelEnv,
  type CelFunc,
  type CelInput,
  type CelList,
  CelScalar,
  type CelValue,
  celEnv,
  celFunc,
  celList,
  celMethod,
  isCelError,
  listType,
  mapType,
} from "@bufbuild/cel";
import { APPEND, RANGE, WITHIN } from "./condition-syntax.ts";
import type { JsonValues } from "./json-values.ts";
import type { Meter } from "./meter.ts";
import type { Pattern } from "./patterns.ts";

/** One node of an expression, with the error that it may end in. */
const NODE_WORK = 20;
/** Finding a day or an hour in a time zone asks the platform's calendar. */
const CALENDAR_WORK = 10_000;
/** Reading a time or a duration builds a Protobuf message. */
const CONVERSION_WORK = 200;
/** A number, a time or a duration is shorter; turning long texts into numbers takes time beyond linear. */
const CONVERTED_LENGTH_MAX = 100;
/** `contains` compares this many characters in the time of one unit. */
const COMPARED_PER_WORK = 32;

const { BOOL, INT, DOUBLE, DYN } = CelScalar;
const LIST = listType(DYN);
const MAP = mapType(DYN, DYN);

const CONVERSIONS: ReadonlySet<string> = new Set(["int", "uint", "double", "bool", "timestamp", "duration"]);

/** What a call takes, told from the values themselves, in units of the meter. */
const workOf = (name: string, values: readonly CelValue[], weigh: JsonValues["weigh"]): number => {
  const [first, second] = values;
  if (name === "_==_" || name === "_!=_") return 2 * Math.min(weigh(first), weigh(second));
  if (name === "contains" && typeof first === "string" && typeof second === "string")
    // The platform's search compares every position with the whole text in the worst case: 25 s for two of 500 kB.
    return (first.length * second.length) / COMPARED_PER_WORK + weigh(first);
  if (name === "size") return typeof first === "string" ? first.length : 1;
  const isCalendar = name.startsWith("get");
  if (isCalendar || CONVERSIONS.has(name)) {
    const longest = values.reduce<number>((max, it) => Math.max(max, typeof it === "string" ? it.length : 0), 0);
    if (longest > CONVERTED_LENGTH_MAX) throw new RangeError(`${name}() of a text that long`);
    return isCalendar ? CALENDAR_WORK : CONVERSION_WORK + longest;
  }
  return 2 * values.reduce<number>((sum, value) => sum + weigh(value), 0);
};

/** The same function of the standard library, paying before it runs. */
const metered = (original: CelFunc, weigh: JsonValues["weigh"], meter: Meter): CelFunc => {
  const { name, target: targetType, arguments: types, result: type } = original;
  const run = (target: CelValue | undefined, args: CelValue[]): CelInput => {
    meter.spend(NODE_WORK + workOf(name, target === undefined ? args : [target, ...args], weigh));
    const result = original.call(0, target, args);
    if (result === undefined) throw new TypeError(`${name}() of other types`);
    // Thrown errors are what the library turns into the result of the call.
    if (isCelError(result)) throw result;
    return result;
  };
  return targetType === undefined
    ? celFunc(name, types, type, (...args: CelValue[]) => run(undefined, args))
    : celMethod(name, targetType, types, type, function (this: CelValue, ...args: CelValue[]) {
        return run(this, args);
      });
};

/** Every number of JSON is a double, and authors write `payload.amount / 100`: the standard knows no such mixture. */
const mixedArithmetic = (): CelFunc[] => {
  const operations: readonly [string, (l: number, r: number) => number][] = [
    ["_+_", (l, r) => l + r],
    ["_-_", (l, r) => l - r],
    ["_*_", (l, r) => l * r],
    ["_/_", (l, r) => l / r],
  ];
  return operations.flatMap(([name, of]) => [
    celFunc(name, [INT, DOUBLE], DOUBLE, (l, r) => of(Number(l), r)),
    celFunc(name, [DOUBLE, INT], DOUBLE, (l, r) => of(l, Number(r))),
  ]);
};

/** What `checkExpression` puts into comprehensions. */
const comprehensionFunctions = (meter: Meter): CelFunc[] => {
  const grown = new WeakMap<CelList, CelInput[]>();
  return [
    celFunc(RANGE, [LIST, INT], LIST, (list, each) => {
      meter.spend(list.size * Number(each) * NODE_WORK);
      return list;
    }),
    celFunc(RANGE, [MAP, INT], MAP, (map, each) => {
      meter.spend(map.size * Number(each) * NODE_WORK);
      return map;
    }),
    celFunc(WITHIN, [], BOOL, () => {
      meter.spend(0);
      return true;
    }),
    celFunc(APPEND, [LIST, LIST], LIST, (list, more) => {
      const elements = grown.get(list);
      if (elements !== undefined) {
        elements.push(...more);
        return list;
      }
      const begun: CelInput[] = [...list, ...more];
      const result = celList(begun);
      grown.set(result, begun);
      return result;
    }),
  ];
};

/**
 * CEL's standard functions for one policy: each pays the meter for what it does with the values at hand, and `matches`
 * uses the patterns that were compiled beforehand.
 */
export const conditionEnv = (values: JsonValues, meter: Meter, patterns: ReadonlyMap<string, Pattern>): CelEnv => {
  const standard = [...celEnv().funcs].flatMap((it) => metered(it, values.weigh, meter));
  return celEnv({
    funcs: [...standard, ...mixedArithmetic(), ...comprehensionFunctions(meter)],
    re2: {
      compile(source) {
        const pattern = patterns.get(source);
        if (pattern === undefined) throw new Error("a pattern that was not compiled beforehand");
        return pattern;
      },
    },
  });
};
