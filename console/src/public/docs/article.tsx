import type { DocPage } from 'virtual:docs'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef } from 'react'
import '../highlight.css'
import './article.css'
import { gatewayUrl } from '../../site.ts'
import { onChosen } from '../chosen.ts'
import { filledHtml } from '../fill.ts'
import { allModels, catalogQuery } from '../models/catalog.ts'
import { onArticleClick, onArticleKey, showChosen } from './article-behaviour.ts'

/** The text of a document, made when the pages were built, with this gateway's address and public models. */
export function Article({ page }: { page: DocPage }) {
  const { data: catalog } = useQuery(catalogQuery)
  const html = useMemo(() => {
    const models = catalog == null ? [] : allModels(catalog)
    const first = (path: string) => models.find(({ endpoints }) => endpoints.includes(path))?.id
    const model = first('/v1/chat/completions') ?? 'YOUR-MODEL'
    const imageModel = first('/v1/images/generations')
    const embeddingModel = first('/v1/embeddings')
    return { __html: filledHtml(page.html, { gateway: gatewayUrl, model, imageModel, embeddingModel }) }
  }, [page, catalog])
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
    root.addEventListener('click', onClick)
    root.addEventListener('keydown', onArticleKey)
    const unsubscribe = onChosen(show)
    return () => {
      root.removeEventListener('click', onClick)
      root.removeEventListener('keydown', onArticleKey)
      unsubscribe()
    }
  }, [navigate])
  // biome-ignore lint/correctness/useExhaustiveDependencies: new HTML shows the first tabs
  useEffect(() => {
    if (article.current !== null) showChosen(article.current)
  }, [html])
  useEffect(() => {
    const id = decodeURIComponent(window.location.hash.slice(1))
    // The text comes after the browser has looked for the anchor.
    if (id !== '') document.getElementById(id)?.scrollIntoView()
  }, [])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: of our own documents; tags in their text are escaped
  return <article ref={article} className="tg-article" dangerouslySetInnerHTML={html} />
}
