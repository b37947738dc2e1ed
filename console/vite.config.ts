import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Names have a hash of the content, so browsers keep them for ever. */
const assets = 'assets'

const gateway = process.env.TOLLGATE_URL ?? 'http://127.0.0.1:8787'

export default defineConfig({
  plugins: [react(), compressed()],
  // For `vite` while one works on the pages: a gateway that runs answers the calls.
  server: {
    proxy: Object.fromEntries(
      ['/admin', '/v1', '/public', '/openapi.json', '/site'].map((path) => [path, gateway]),
    ),
  },
  build: {
    assetsDir: assets,
    target: 'es2023',
    // The pages' policy allows no data: for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    reportCompressedSize: false,
  },
})

/** Writes each text asset a second and a third time: as Brotli and as gzip. The gateway compresses nothing itself. */
function compressed(): Plugin {
  const least = 1_024
  return {
    name: 'tollgate-compressed',
    apply: 'build',
    enforce: 'post',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (!/\.(js|css|svg|json)$/.test(file.fileName)) continue
        const source = Buffer.from(file.type === 'chunk' ? file.code : file.source)
        if (source.length < least) continue
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: 11,
          [constants.BROTLI_PARAM_SIZE_HINT]: source.length,
        }
        const made = [
          { suffix: 'br', bytes: brotliCompressSync(source, { params }) },
          { suffix: 'gz', bytes: gzipSync(source, { level: 9 }) },
        ]
        for (const { suffix, bytes } of made) {
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.${suffix}`, source: bytes })
        }
      }
    },
  }
}
