import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

// Says of each package of OpenTelemetry, on standard error, that the process loads it.
registerHooks({
  load(url, context, nextLoad) {
    const name = /node_modules\/(@opentelemetry\/[\w-]+)\//.exec(url)?.[1]
    if (name !== undefined) writeSync(2, `loaded ${name}\n`)
    return nextLoad(url, context)
  },
})
