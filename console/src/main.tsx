import '@mantine/core/styles.css'
import './base.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isSessionEnded } from './api/client.ts'
import { queryClient } from './api/query-client.ts'
import { Toasts } from './parts/toast.tsx'
import { router } from './router.tsx'
import { site } from './site.ts'
import { cssVariables, theme } from './theme.ts'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')

// For the style sheet that keeps the page from scrolling behind a dialog:
// https://www.npmjs.com/package/get-nonce
Object.assign(globalThis, { __webpack_nonce__: site.nonce })

// To the sign-in, which leads back. It loads all anew: nothing stays of what the former person has read.
// After a change that is refused the page stays, with what somebody has typed.
queryClient.getQueryCache().config.onError = (error) => {
  const { pathname, search } = window.location
  if (isSessionEnded(error))
    window.location.assign(`/console/sign-in?to=${encodeURIComponent(pathname + search)}`)
}

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={cssVariables}
      getStyleNonce={() => site.nonce}
    >
      <QueryClientProvider client={queryClient}>
        <Toasts />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
