import { parseOrigin } from "../../domain/evidence/checkpoint.ts";

const ACCOUNT = /^acc_[a-z2-7]{32}$/;

/**
 * True if a log with a key of this name may have a tree of this origin. A key of Countersign is named `<host>/instance`
 * and signs for the instance, for each account of the host, and for their later generations; any other key signs for
 * its name alone.
 */
export const signsFor = (keyName: string, origin: string): boolean => {
  if (origin === keyName) return true;
  const own = parseOrigin(keyName);
  const tree = parseOrigin(origin);
  if (own === null || own.account !== null || own.generation !== 1) return false;
  return tree !== null && tree.host === own.host && (tree.account === null || ACCOUNT.test(tree.account));
};
