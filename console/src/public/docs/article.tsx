import type { DocPage } from 'virtual:docs'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef } from 'react'
import '../highlight.css'
import './article.css'
import { gatewayUrl } from '../../site.ts'
import { onChosen } from '../chosen.ts'
import { addressed } from '../fill.ts'
import { onArticleClick, onArticleKey, showChosen } from './article-behaviour.ts'

/** The text of a document, made when the pages were built. `path`: of its file in `docs/`. */
export function Article({ page, path }: { page: DocPage; path: string }) {
  const html = useMemo(() => ({ __html: addressed(page.html, path, gatewayUrl) }), [page, path])
  const article = useRef<HTMLElement>(null)
  const navigate = useNavigate()
  useEffect(() => {
    const root = article.current
    if (root === null) return
    const onClick = (event: MouseEvent) =>
      onArticleClick(event, (to) => {
        void navigate({ to })
      })
    const show = () => showChosen(root)
    show()
    root.addEventListener('click', onClick)
    root.addEventListener('keydown', onArticleKey)
    const unsubscribe = onChosen(show)
    return () => {
      root.removeEventListener('click', onClick)
      root.removeEventListener('keydown', onArticleKey)
      unsubscribe()
    }
  }, [navigate])
  useEffect(() => {
    const id = decodeURIComponent(window.location.hash.slice(1))
    // The text comes after the browser has looked for the anchor.
    if (id !== '') document.getElementById(id)?.scrollIntoView()
  }, [])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: of our own documents; tags in their text are escaped
  return <article ref={article} className="tg-article" dangerouslySetInnerHTML={html} />
}
