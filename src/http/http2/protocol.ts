/** Frame types (RFC 9113, 6). */
export const FrameType = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goaway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

export const Flag = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

/** Error codes (RFC 9113, 7). */
export const ErrorCode = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  connectError: 0xa,
  enhanceYourCalm: 0xb,
} as const;

export const FRAME_HEADER_BYTES = 9;
/** Default SETTINGS_MAX_FRAME_SIZE, which this server neither raises nor exceeds. */
export const FRAME_PAYLOAD_BYTES_MAX = 16_384;
export const WINDOW_BYTES_MAX = 2 ** 31 - 1;
export const STREAM_ID_MAX = 2 ** 31 - 1;
/** Initial flow-control window before SETTINGS and WINDOW_UPDATE (RFC 9113, 6.9.2). */
export const DEFAULT_WINDOW_BYTES = 65_535;
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Connection error (RFC 9113, 5.4.1): ends the connection with `code` in GOAWAY. */
export class ConnectionError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export function writeFrameHeader(
  into: Buffer,
  offset: number,
  frame: { readonly length: number; readonly type: number; readonly flags: number; readonly streamId: number },
): number {
  const { length, streamId } = frame;
  into[offset] = length >>> 16;
  into[offset + 1] = length >>> 8;
  into[offset + 2] = length;
  into[offset + 3] = frame.type;
  into[offset + 4] = frame.flags;
  return writeUint32(into, offset + 5, streamId);
}

export function writeUint32(into: Buffer, offset: number, value: number): number {
  into[offset] = value >>> 24;
  into[offset + 1] = value >>> 16;
  into[offset + 2] = value >>> 8;
  into[offset + 3] = value;
  return offset + 4;
}

export function readUint32(from: Buffer, offset: number): number {
  return from[offset]! * 0x1000000 + ((from[offset + 1]! << 16) | (from[offset + 2]! << 8) | from[offset + 3]!);
}

/** Reads a stream id or a window increment; ignores the reserved highest bit. */
export function readUint31(from: Buffer, offset: number): number {
  return ((from[offset]! & 0x7f) << 24) | (from[offset + 1]! << 16) | (from[offset + 2]! << 8) | from[offset + 3]!;
}
