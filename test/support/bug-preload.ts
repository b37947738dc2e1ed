import { isMainThread } from 'node:worker_threads'

// Loaded into Tollgate with --import: SIGUSR2 makes a bug, an error that nothing catches. With BUG=rejection it is a promise.

export const plantedBug = 'a planted bug with sk-proj-Abcdefghijklmnopqrstuvwxyz0123456789'

if (isMainThread) {
  process.on('SIGUSR2', () => {
    if (process.env.BUG === 'rejection') void Promise.reject(new Error(plantedBug))
    else {
      setImmediate(() => {
        throw new Error(plantedBug)
      })
    }
  })
}
