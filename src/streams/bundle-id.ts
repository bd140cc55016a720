const BUNDLE_ID = /^bun_[a-z2-7]{32}$/;

export const isBundleId = (text: string): boolean => BUNDLE_ID.test(text);

export const bundleStream = (bundleId: string): string => `bundle-${bundleId}`;
