/** Registers a callback for an abort of the caller, at once after one; returns an unregister function. */
export type OnAbort = (listener: () => void) => () => void;
