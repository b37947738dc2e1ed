import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError, isSessionEnded } from './client.ts'

/** What is read once, and when it is read again. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // After a change that is refused the page stays, with what somebody has typed.
    onError(error) {
      if (isSessionEnded(error)) leave()
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // An answer with an error is an answer: only silence and a busy gateway are asked again.
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && (error.status === 0 || error.status === 503),
      refetchOnWindowFocus: true,
    },
  },
})

/** To the sign-in, which leads back. It loads all anew: nothing stays of what the former person has read. */
function leave(): void {
  const { pathname, search } = window.location
  window.location.assign(`/console/sign-in?to=${encodeURIComponent(pathname + search)}`)
}
