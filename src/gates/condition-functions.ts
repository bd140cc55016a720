import {
  type CelEnv,
  type CelFunc,
  type CelInput,
  type CelList,
  type CelMap,
  CelScalar,
  type CelValue,
  celEnv,
  celFunc,
  celList,
  celMethod,
  isCelError,
  isCelList,
  isCelMap,
  listType,
  mapType,
} from "@bufbuild/cel";
import { APPEND, RANGE, WITHIN } from "./condition-syntax.ts";
import type { JsonValues } from "./json-values.ts";
import type { Meter } from "./meter.ts";
import type { Pattern } from "./patterns.ts";

const NODE_WORK = 20;
/** Units for one element of a loop's list and one node of the loop's body, including an error that the node ends in. */
const ROUND_WORK = 50;
const CALENDAR_WORK = 10_000;
/** Units of the meter: parsing a time or a duration builds a Protobuf message. */
const CONVERSION_WORK = 200;
const ERROR_WORK = 300;
const ELEMENT_WORK = 30;
/** So many characters are counted, searched or encoded in the time of one unit of the meter. */
const CHARACTERS_PER_WORK = 5;
/** Characters. A longer text is no number, time or duration, and converting it could take more than linear time. */
const CONVERTED_LENGTH_MAX = 100;
/** `contains` compares so many characters in the time of one unit of the meter. */
const COMPARED_PER_WORK = 32;

const { BOOL, INT, DOUBLE, DYN } = CelScalar;
const LIST = listType(DYN);
const MAP = mapType(DYN, DYN);

const CONVERSIONS: ReadonlySet<string> = new Set(["int", "uint", "double", "bool", "timestamp", "duration"]);

const isContainer = (value: CelValue | undefined): value is CelList | CelMap => isCelList(value) || isCelMap(value);

const comparing = (a: CelValue | undefined, b: CelValue | undefined, weigh: JsonValues["weigh"]): number => {
  if (!isContainer(a) || !isContainer(b)) return isContainer(a) || isContainer(b) ? 0 : Math.min(weigh(a), weigh(b));
  return a === b || a.size !== b.size ? 0 : 2 * ELEMENT_WORK * a.size + Math.min(weigh(a), weigh(b));
};

const searching = (value: CelValue | undefined, among: CelValue | undefined, weigh: JsonValues["weigh"]): number => {
  if (!isCelList(among)) return 0;
  const elements = ELEMENT_WORK * among.size;
  return isContainer(value) || typeof value === "string" ? elements + 4 * weigh(among) : elements;
};

const workOf = (name: string, values: readonly CelValue[], weigh: JsonValues["weigh"]): number => {
  const [first, second] = values;
  if (name === "_==_" || name === "_!=_") return comparing(first, second, weigh);
  if (name === "@in") return searching(first, second, weigh);
  if (name === "contains" && typeof first === "string" && typeof second === "string")
    // At worst the platform compares the second text with every position of the first: 25 s for two texts of 500 kB.
    return (first.length * second.length) / COMPARED_PER_WORK + first.length / CHARACTERS_PER_WORK;
  if (name === "size" || (name === "bytes" && typeof first === "string"))
    return typeof first === "string" ? first.length / CHARACTERS_PER_WORK : 1;
  const isCalendar = name.startsWith("get");
  if (isCalendar || CONVERSIONS.has(name)) {
    const longest = values.reduce<number>((max, it) => Math.max(max, typeof it === "string" ? it.length : 0), 0);
    if (longest > CONVERTED_LENGTH_MAX) throw new RangeError(`${name}() of a text that long`);
    return isCalendar ? CALENDAR_WORK : CONVERSION_WORK + longest;
  }
  if (name === "type" || name === "dyn") return 1;
  return 2 * values.reduce<number>((sum, value) => sum + weigh(value), 0);
};

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** A text that V8 stores with one byte a character has no surrogates, so V8 answers this without scanning it. */
const HIGH_SURROGATE = /[\ud800-\udbff]/;

/** CEL counts code points. The library's own function takes twelve times as long, because it builds a list of them. */
const codePoints = (text: string): bigint => {
  if (!HIGH_SURROGATE.test(text)) return BigInt(text.length);
  let count = text.length;
  for (let at = 1; at < text.length; at += 1) {
    if (isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1))) count -= 1;
  }
  return BigInt(count);
};

const metered = (original: CelFunc, weigh: JsonValues["weigh"], meter: Meter): CelFunc => {
  const { name, target: targetType, arguments: types, result: type } = original;
  const run = (target: CelValue | undefined, args: CelValue[]): CelInput => {
    meter.spend(NODE_WORK + workOf(name, target === undefined ? args : [target, ...args], weigh));
    const [text] = target === undefined ? args : [target];
    if (name === "size" && typeof text === "string") return codePoints(text);
    const result = original.call(0, target, args);
    if (isCelError(result)) meter.spend(ERROR_WORK);
    if (result === undefined) throw new TypeError(`${name}() of other types`);
    // The library turns a thrown error into the result of the call.
    if (isCelError(result)) throw result;
    return result;
  };
  return targetType === undefined
    ? celFunc(name, types, type, (...args: CelValue[]) => run(undefined, args))
    : celMethod(name, targetType, types, type, function (this: CelValue, ...args: CelValue[]) {
        return run(this, args);
      });
};

/** CEL does not mix doubles and ints, but JSON's numbers are doubles, and authors write `payload.amount / 100`. */
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

const comprehensionFunctions = (meter: Meter): CelFunc[] => {
  const grown = new WeakMap<CelList, CelInput[]>();
  return [
    celFunc(RANGE, [LIST, INT], LIST, (list, each) => {
      meter.spend(list.size * Number(each) * ROUND_WORK);
      return list;
    }),
    celFunc(RANGE, [MAP, INT], MAP, (map, each) => {
      meter.spend(map.size * Number(each) * ROUND_WORK);
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
