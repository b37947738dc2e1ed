import { escapeHtml, type Site } from './site.ts'

/** How long a browser waits before it tries again, in seconds. */
export const askAgainSeconds = 2

/**
 * Returns a standalone page to show while the others do not exist. `failure` is the reason if they cannot be
 * built; otherwise the page reloads.
 */
export function notBuiltPage({ name, url }: Site, failure: string | undefined, nonce: string): string {
  const isBuilding = failure === undefined
  const title = isBuilding ? 'The pages are being built' : 'The pages are not built'
  const api = url === undefined ? '/v1' : `${url}/v1`
  const lines = [
    ...(isBuilding
      ? [
          'This takes a few seconds, once after an installation or a change. This page reloads automatically.',
          'If it does not finish, see the log of the gateway for the reason.',
        ]
      : [failure, 'Run npm run build:pages to try again. No restart is needed.']),
    isBuilding ? `The API is already available at ${api}.` : `The API is available without them at ${api}.`,
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
