import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { didYouMean } from "../../domain/did-you-mean.ts";
import { type Env, UsageError } from "./command.ts";

/** A service and the key, or a person's session (css_…), with which it is called. It is sent to no other address. */
export type Profile = { readonly url: string; readonly key: string };

export type Profiles = {
  readonly current: string | null;
  /** The profile that was current before the current one; null if there was none. */
  readonly before: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
};

const NONE: Profiles = { current: null, before: null, profiles: {} };
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** The rights of others than the file's owner. */
const OTHERS = 0o077;

/** The XDG Base Directory Specification ignores a relative path. Null without a home. */
export const profilesFile = (env: Env): string | null => {
  const { XDG_CONFIG_HOME: config = "", HOME: home = env.USERPROFILE ?? "" } = env;
  const folder = isAbsolute(config) ? config : isAbsolute(home) ? join(home, ".config") : null;
  return folder === null ? null : join(folder, "countersign", "profiles.json");
};

const isProfile = (it: unknown): it is Profile => {
  const { url, key } = (it ?? {}) as Partial<Profile>;
  return typeof url === "string" && typeof key === "string";
};

const parsed = (text: string, path: string): Profiles => {
  const broken = new Error(`${path} is damaged: mend it or remove it.`);
  try {
    const { current, before, profiles } = JSON.parse(text) as Partial<Profiles>;
    if (typeof profiles !== "object" || profiles === null || !Object.values(profiles).every(isProfile)) throw broken;
    // `fromEntries` creates an own member even for a profile named __proto__.
    return {
      current: typeof current === "string" ? current : null,
      before: typeof before === "string" ? before : null,
      profiles: Object.fromEntries(Object.entries(profiles)),
    };
  } catch {
    // The parser's own message would repeat a part of the text, which holds keys.
    throw broken;
  }
};

export const readProfiles = (env: Env): Profiles => {
  const path = profilesFile(env);
  const found = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
  if (path === null || found === undefined) return NONE;
  if (process.platform !== "win32" && (found.mode & OTHERS) !== 0)
    throw new Error(
      `Other users can read the keys in ${path}: run chmod 600 on it, and revoke keys that they may have.`,
    );
  return parsed(readFileSync(path, "utf8"), path);
};

export const isSessionKey = (key: string): boolean => key.startsWith("css_");

const noProfile = (named: string, profiles: Profiles["profiles"]): UsageError => {
  const names = Object.keys(profiles);
  const there = names.length === 0 ? "There are none: countersign login makes one." : `There are: ${names.join(", ")}.`;
  return new UsageError(`There is no profile "${named}".${didYouMean(named, names)} ${there}`);
};

/** The profile of this name, or the current one; null if no name is given and there is none. */
export const currentProfile = (
  env: Env,
  given: string | boolean | undefined,
): { readonly name: string; readonly profile: Profile } | null => {
  const named = typeof given === "string" && given !== "" ? given : null;
  const { current, profiles } = readProfiles(env);
  const name = named ?? current;
  const profile = name !== null && Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined && named !== null) throw noProfile(named, profiles);
  return name === null || profile === undefined ? null : { name, profile };
};

export const profileOf = (env: Env, name: string | undefined): Profile | null =>
  currentProfile(env, name)?.profile ?? null;

/** Replaces the file as a whole, so that no reader finds a part of it and no moment has a file that others can read. */
const write = (path: string, { current, before, profiles }: Profiles): void => {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const temporary = `${path}.${randomBytes(8).toString("hex")}`;
  const file = openSync(temporary, "wx", FILE_MODE);
  try {
    const content = { current, ...(before === null ? {} : { before }), profiles };
    writeSync(file, `${JSON.stringify(content, null, 2)}\n`);
    fsyncSync(file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
};

type Place = { readonly path: string; readonly known: Profiles };

/** Where a profile of this name can be kept; throws if it cannot. */
export const placeFor = (env: Env, name: string): Place => {
  const path = profilesFile(env);
  if (path === null) throw new UsageError("There is no place for a profile: set HOME or XDG_CONFIG_HOME.");
  if (!NAME.test(name)) throw new UsageError("A profile's name has letters, digits and . _ - only, 64 at most.");
  return { path, known: readProfiles(env) };
};

/** The content in which the profile `name` is the current one. */
const withCurrent = (name: string, { current, before, profiles }: Profiles): Profiles => ({
  current: name,
  before: current === name ? before : current,
  profiles,
});

/** Keeps the profile, makes it the current one, and returns the file's path. */
export const keepProfile = (env: Env, name: string, profile: Profile): string => {
  const { path, known } = placeFor(env, name);
  write(path, withCurrent(name, { ...known, profiles: { ...known.profiles, [name]: profile } }));
  return path;
};

/** Makes a profile that is kept already the current one. */
export const useProfile = (env: Env, name: string): void => {
  const path = profilesFile(env);
  const known = readProfiles(env);
  if (path === null || !Object.hasOwn(known.profiles, name)) throw noProfile(name, known.profiles);
  if (known.current !== name) write(path, withCurrent(name, known));
};

/** The profile that takes the place of a removed one: the one that was current before it, or the only one that is left. */
const successor = (before: string | null, profiles: Profiles["profiles"]): string | null => {
  if (before !== null && Object.hasOwn(profiles, before)) return before;
  const [only = null, ...others] = Object.keys(profiles);
  return others.length === 0 ? only : null;
};

/** Removes the profile, and returns the name of the one that is current afterwards; null if there is none. */
export const removeProfile = (env: Env, name: string): string | null => {
  const path = profilesFile(env);
  const { current, before, profiles } = readProfiles(env);
  if (path === null || !Object.hasOwn(profiles, name)) return current;
  const { [name]: _, ...rest } = profiles;
  const isCurrent = current === name;
  const next = isCurrent ? successor(before, rest) : current;
  write(path, { current: next, before: isCurrent || before === name ? null : before, profiles: rest });
  return next;
};
