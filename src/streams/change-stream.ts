/** The stream that holds a change of a protected policy until people have decided on it. */
export const changeStream = (changeId: string): string => `change-${changeId}`;
