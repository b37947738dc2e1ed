import { randomBytes } from 'node:crypto'

/** Headers of every page. Nothing comes from another host, and no script or style but ours runs. */
export function pageHeaders(nonce: string, imageOrigins: readonly string[]): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    // A client that asks for JSON gets an error instead of the page.
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

/** Headers of every file beside the pages. Opened by itself, a file runs no script: an SVG could hold one. */
export const fileHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export function makeNonce(): string {
  return randomBytes(16).toString('base64')
}

/** What a page could ask the browser for. The pages copy text, and use nothing else. */
const permissions = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']
  .map((name) => `${name}=()`)
  .join(', ')
