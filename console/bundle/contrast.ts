/** Checks the colours of `design/tokens.css` against the table of contrasts that the design promises (WCAG 2.2). */

type Scheme = "light" | "dark";
type Roles = ReadonlyMap<string, Readonly<Record<Scheme, string>>>;

const ROLE = /--([a-z0-9-]+):\s*light-dark\((#[0-9a-fA-F]{6}),\s*(#[0-9a-fA-F]{6})\)/g;
/** Success criteria 1.4.3 for text and 1.4.11 for graphics and the edges of controls. */
const TEXT = 4.5;
const GRAPHIC = 3;

const WASHES = ["blue-wash", "ok-wash", "wait-wash", "refuse-wash", "fail-wash", "move-wash"];
const SURFACES = ["paper", "well", "sheet"];

/** What stands on what, and the least ratio. Third text never stands on the wash of a state. */
const RULES: readonly { readonly front: string; readonly backs: readonly string[]; readonly least: number }[] = [
  { front: "ink", backs: [...SURFACES, ...WASHES], least: TEXT },
  { front: "ink-2", backs: [...SURFACES, ...WASHES], least: TEXT },
  { front: "ink-3", backs: [...SURFACES, "blue-wash"], least: TEXT },
  { front: "blue", backs: [...SURFACES, ...WASHES], least: TEXT },
  { front: "blue-hover", backs: SURFACES, least: TEXT },
  { front: "on-blue", backs: ["blue", "blue-hover"], least: TEXT },
  ...["ok", "wait", "refuse", "fail", "move"].map((state) => ({
    front: state,
    backs: [...SURFACES, `${state}-wash`],
    least: TEXT,
  })),
  { front: "edge", backs: SURFACES, least: GRAPHIC },
  { front: "base", backs: ["paper", "well"], least: GRAPHIC },
];

export const rolesOf = (css: string): Roles =>
  new Map([...css.matchAll(ROLE)].map(([, name = "", light = "", dark = ""]) => [name, { light, dark }]));

/** Relative luminance of `#rrggbb` (WCAG 2.2, glossary). */
const luminance = (hex: string): number => {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = parts.map((it) =>
    it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

export const contrast = (one: string, other: string): number => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};

/** One line for each pair of colours that is missing or too alike. */
export const contrastFaults = (css: string): readonly string[] => {
  const roles = rolesOf(css);
  const pairs = RULES.flatMap(({ front, backs, least }) => backs.map((back) => ({ front, back, least })));
  return pairs.flatMap(({ front, back, least }) =>
    (["light", "dark"] as const).flatMap((scheme) => {
      const [one, other] = [roles.get(front)?.[scheme], roles.get(back)?.[scheme]];
      if (one === undefined || other === undefined) return [`--${front} or --${back} has no ${scheme} value`];
      const ratio = contrast(one, other);
      return ratio >= least
        ? []
        : [`--${front} on --${back} (${scheme}) has ${ratio.toFixed(2)}, and ${least} is needed`];
    }),
  );
};
