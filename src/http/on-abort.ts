/**
 * Registers a callback for "the reply is no longer wanted": called once, at once if that is so already. Returns a function
 * that takes the callback back.
 */
export type OnAbort = (listener: () => void) => () => void;
