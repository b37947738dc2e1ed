import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { documentsPlugin } from './docs/plugin.ts'

/** Names have a hash of the content, so browsers keep them for ever. */
const assets = 'assets'

const gateway = process.env.TOLLGATE_URL ?? 'http://127.0.0.1:8787'

export default defineConfig(({ command }) => {
  // A caller's NODE_ENV, such as that of a test runner, would build React for developers: larger and slower.
  if (command === 'build') process.env.NODE_ENV = 'production'
  return {
    plugins: [react(), documentsPlugin(join(import.meta.dirname, '../docs')), settings(), compressed()],
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
  }
})

/** The settings of the gateway, for the forms that change them, as the module `virtual:settings`. */
function settings(): Plugin {
  const id = 'virtual:settings'
  return {
    name: 'tollgate-settings',
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    async load(source) {
      if (source !== `\0${id}`) return undefined
      const { forms } = await import(join(import.meta.dirname, '../src/db/settings/forms.ts'))
      return `export const forms = ${JSON.stringify(forms)}`
    },
  }
}

/**
 * Writes each text file a second and a third time: as Brotli and as gzip. The gateway compresses nothing
 * itself. This reads what is on the disk: vite changes the code of a bundle until it writes it.
 */
function compressed(): Plugin {
  const least = 256
  return {
    name: 'tollgate-compressed',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const names = Object.keys(bundle).filter((name) => /\.(js|css|svg|json|txt)$/.test(name))
      for (const name of names) {
        const path = join(dir, name)
        const source = await readFile(path)
        if (source.length < least) continue
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: 11,
          [constants.BROTLI_PARAM_SIZE_HINT]: source.length,
        }
        await writeFile(`${path}.br`, brotliCompressSync(source, { params }))
        await writeFile(`${path}.gz`, gzipSync(source, { level: 9 }))
      }
    },
  }
}
