import { escapeHtml, type Site } from './site.ts'

/** How long a browser waits before it asks again, in seconds. */
export const askAgainSeconds = 2

/**
 * A standalone page, for the time in which there are no others. `failure`: why there will be none;
 * else it asks again.
 */
export function notBuiltPage({ name, url }: Site, failure: string | undefined, nonce: string): string {
  const isBuilding = failure === undefined
  const title = isBuilding ? 'The pages are being built' : 'The pages are not built'
  const api = url === undefined ? '/v1' : `${url}/v1`
  const lines = [
    ...(isBuilding
      ? [
          'This takes some seconds, once after an installation or a change. This page asks again by itself.',
          'If it does not end, the log of the gateway says why.',
        ]
      : [failure, 'npm run build:pages tries again. No restart is needed.']),
    `The API works ${isBuilding ? 'already' : 'without them'}: ${api} answers.`,
  ]
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    ${isBuilding ? `<meta http-equiv="refresh" content="${askAgainSeconds}">` : ''}
    <link rel="icon" href="/site/icon">
    <title>${escapeHtml(title)} · ${escapeHtml(name)}</title>
    <style nonce="${nonce}">
      body { margin: 0; font: 14px/20px system-ui, sans-serif; color: CanvasText; background: Canvas; }
      main { max-width: 560px; margin: 15vh auto 0; padding: 0 24px; }
      main > div { font-weight: 600; }
      h1 { font-size: 20px; line-height: 28px; }
      p { overflow-wrap: anywhere; white-space: pre-line; }
    </style>
  </head>
  <body>
    <main>
      <div>${escapeHtml(name)}</div>
      <h1>${escapeHtml(title)}</h1>
      ${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n      ')}
    </main>
  </body>
</html>
`
}
