/** Named parts with dots between them, as `refund.create`: what a scope's `refund.*` stands for is seen in the name. */
const NAME = /^[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/;
export const ACTION_NAME_MAX = 100;

export const isActionName = (text: string): boolean => text.length <= ACTION_NAME_MAX && NAME.test(text);
