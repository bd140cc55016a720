/** The kinds of things whose names every page wants, as the directory takes them. */
export const LISTED_KINDS = "agent,source,endpoint,policy";
