import { randomBytes } from 'node:crypto'

/** The headers of every page. Nothing is loaded from other hosts, and only our own scripts and styles run. */
export function pageHeaders(nonce: string, imageOrigins: readonly string[]): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    // A client that requests JSON gets an error instead of the page.
    vary: 'accept',
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      ['img-src', "'self'", 'data:', 'blob:', ...imageOrigins].join(' '),
      "font-src 'self'",
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "object-src 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': permissions,
  }
}

/**
 * The headers of all files besides the pages. When opened directly, a file runs no scripts, which an SVG
 * could contain.
 */
export const fileHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export function makeNonce(): string {
  return randomBytes(16).toString('base64')
}

/** The browser features that a page could request. The pages copy text and use nothing else. */
const permissions = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']
  .map((name) => `${name}=()`)
  .join(', ')
