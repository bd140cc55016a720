const BUNDLE_ID = /^bun_[a-z2-7]{32}$/;

/** Whether it is the id of a bundle, or of none: what is no id is no stream's name either. */
export const isBundleId = (text: string): boolean => BUNDLE_ID.test(text);

export const bundleStream = (bundleId: string): string => `bundle-${bundleId}`;
