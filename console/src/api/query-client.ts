import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './client.ts'

/** What is read once, and when it is read again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A browser that believes to be offline may still reach a gateway on its own machine or network: ask
      // it.
      networkMode: 'always',
      // An answer with an error is an answer: only silence and a busy gateway are asked again.
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && (error.status === 0 || error.status === 503),
      refetchOnWindowFocus: true,
      // Off by itself in the mode `always`.
      refetchOnReconnect: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})
