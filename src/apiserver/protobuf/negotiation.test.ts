import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../http/exchange.js';
import { bodyEncoding, parseDocument } from '../verbs/decode.js';
import { outputForm, watchForm } from '../verbs/output-form.js';
import { encodeProtobuf } from './encode-protobuf.js';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const METADATA = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const builtIn = { origin: 'built-in' } as const;
const custom = { origin: 'custom' } as const;

const exchange = (name: string, value: string): Exchange => ({ headers: [name, value] }) as unknown as Exchange;
const form = (accept: string, type: typeof builtIn | typeof custom) =>
  outputForm(exchange('Accept', accept), new URLSearchParams(), type);

describe('request bodies in protobuf', () => {
  it('are accepted for built-in kinds and refused for custom resources', () => {
    const sent = exchange('Content-Type', `${PROTOBUF}; charset=utf-8`);
    expect(bodyEncoding(sent)).toBe('protobuf');
    expect(bodyEncoding(sent, builtIn)).toBe('protobuf');
    expect(() => bodyEncoding(sent, custom)).toThrow(
      'accepted media types include: application/json, application/yaml',
    );
  });

  it('are decoded to the JSON of the object', () => {
    const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'x' }, spec: { replicas: 3 } };
    const document = parseDocument(encodeProtobuf(scale)!, 'protobuf', 'no Scale');
    expect(document).toEqual({ ...scale, status: { replicas: 0 } });
  });

  it('are refused as bad requests if they are malformed', () => {
    expect(() => parseDocument(Buffer.from('k8s\0\xff'), 'protobuf', 'no Scale')).toThrow(
      expect.objectContaining({ name: 'StatusError', message: expect.stringMatching(/^no Scale: /) }),
    );
  });
});

describe('replies in protobuf', () => {
  it('are only sent to clients that accept neither JSON nor YAML', () => {
    expect(form(PROTOBUF, builtIn)).toMatchObject({ encoding: 'protobuf', as: 'object' });
    expect(form(`${PROTOBUF},application/json`, builtIn)).toMatchObject({ encoding: 'json' });
    expect(form(`${PROTOBUF},*/*;q=0.1`, builtIn)).toMatchObject({ encoding: 'json' });
    expect(watchForm(exchange('Accept', `${PROTOBUF};stream=watch`), new URLSearchParams(), builtIn)).toMatchObject({
      encoding: 'protobuf',
    });
  });

  it('contain only the metadata of custom resources', () => {
    expect(form(PROTOBUF + METADATA, custom)).toMatchObject({ encoding: 'protobuf', as: 'metadata' });
    expect(() => form(PROTOBUF, custom)).toThrow('only the following media types are accepted');
  });

  it('are never tables, for which there is no protobuf message', () => {
    expect(() => form(`${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`, builtIn)).toThrow('only the following media types');
  });
});
