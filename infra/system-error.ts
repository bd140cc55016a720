/** Whether it is an error of the operating system with this code, such as ENOENT. */
export const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
