import type { Exchange, Reply } from '../../http/exchange.js';
import {
  OPENID_CONFIGURATION_PATH,
  OPENID_KEYS_MEDIA_TYPE,
  OPENID_KEYS_PATH,
  OPENID_MAX_AGE_SECONDS,
  openIdConfiguration,
  openIdKeys,
} from '../authentication/openid-documents.js';
import type { ServiceAccountTokens } from '../authentication/service-account-tokens.js';

/** Replies with documents to verify service-account tokens; undefined for other paths. */
export function openIdReply(
  { info }: Exchange,
  tokens: ServiceAccountTokens,
  { issuer, serverAddress }: { readonly issuer: string; readonly serverAddress: string },
): Reply | undefined {
  if (info.path === OPENID_CONFIGURATION_PATH) {
    const keysUrl = `https://${serverAddress}${OPENID_KEYS_PATH}`;
    return document('application/json', openIdConfiguration(issuer, keysUrl, tokens.verificationKeys));
  }
  return info.path === OPENID_KEYS_PATH
    ? document(OPENID_KEYS_MEDIA_TYPE, openIdKeys(tokens.verificationKeys))
    : undefined;
}

function document(contentType: string, content: object): Reply {
  const body = Buffer.from(JSON.stringify(content));
  const headers = ['Content-Type', contentType, 'Cache-Control', `public, max-age=${OPENID_MAX_AGE_SECONDS}`];
  return { status: 200, headers: [...headers, 'Content-Length', String(body.byteLength)], body };
}
