// The site has a copy of it beside these scripts.
export { default } from 'minisearch'
