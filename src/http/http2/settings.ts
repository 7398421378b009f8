import { HEADER_TABLE_BYTES, type ServerConnectionLimits, STREAM_WINDOW_BYTES } from './http2-limits.js';
import { ConnectionError, ErrorCode, readUint32, WINDOW_BYTES_MAX, writeUint32 } from './protocol.js';

/** Setting identifiers (RFC 9113, 6.5.2). */
const Setting = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
} as const;

const SETTING_BYTES = 6;
const FRAME_BYTES_SMALLEST = 16_384;
const FRAME_BYTES_LARGEST = 2 ** 24 - 1;

export function localSettings(limits: ServerConnectionLimits): Buffer {
  const settings: [number, number][] = [
    [Setting.headerTableSize, HEADER_TABLE_BYTES],
    [Setting.maxConcurrentStreams, limits.streamsMax],
    [Setting.initialWindowSize, STREAM_WINDOW_BYTES],
    [Setting.maxHeaderListSize, limits.headerBytesMax],
  ];
  const payload = Buffer.alloc(settings.length * SETTING_BYTES);
  settings.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, i * SETTING_BYTES);
    writeUint32(payload, i * SETTING_BYTES + 2, value);
  });
  return payload;
}

/** The two client settings that this server uses. */
export interface ClientSettings {
  initialWindowBytes: number | undefined;
  headerTableBytes: number | undefined;
}

/** Validates every known setting, including unused ones, and ignores unknown settings. */
export function readClientSettings(bytes: Buffer, start: number, end: number): ClientSettings {
  if ((end - start) % SETTING_BYTES !== 0) {
    throw new ConnectionError(ErrorCode.frameSizeError, 'SETTINGS has an invalid length');
  }
  const settings: ClientSettings = { initialWindowBytes: undefined, headerTableBytes: undefined };
  for (let at = start; at < end; at += SETTING_BYTES) {
    const value = readUint32(bytes, at + 2);
    switch ((bytes[at]! << 8) | bytes[at + 1]!) {
      case Setting.headerTableSize:
        // The smallest of repeated values counts: the table was reduced to it in between.
        settings.headerTableBytes = Math.min(value, settings.headerTableBytes ?? value);
        break;
      case Setting.enablePush:
        if (value > 1) throw new ConnectionError(ErrorCode.protocolError, 'ENABLE_PUSH is neither 0 nor 1');
        break;
      case Setting.initialWindowSize:
        if (value > WINDOW_BYTES_MAX) {
          throw new ConnectionError(ErrorCode.flowControlError, 'INITIAL_WINDOW_SIZE is too large');
        }
        settings.initialWindowBytes = value;
        break;
      case Setting.maxFrameSize:
        if (value < FRAME_BYTES_SMALLEST || value > FRAME_BYTES_LARGEST) {
          throw new ConnectionError(ErrorCode.protocolError, 'MAX_FRAME_SIZE is out of range');
        }
        break;
    }
  }
  return settings;
}
