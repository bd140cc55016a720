/** A policy as its text has it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type Definition = { readonly [name: string]: Json | undefined };
