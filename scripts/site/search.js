// Finds sections of the pages by their words; the index is a script, so that it also works from a folder.
const { SEARCH_INDEX, SEARCH_ROOT, MiniSearch } = window;
const search = MiniSearch.loadJS(SEARCH_INDEX, { fields: ["title", "text"], storeFields: ["title", "page", "at"] });
const input = document.querySelector("#search input");
const list = document.querySelector("#search ol");
const show = () => {
  const hits = search.search(input.value, { prefix: true, fuzzy: 0.15, boost: { title: 3 } }).slice(0, 12);
  list.replaceChildren(
    ...hits.map(({ title, page, at }) => {
      const link = document.createElement("a");
      link.href = SEARCH_ROOT + at;
      link.textContent = title === page ? title : `${title} · ${page}`;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
  list.hidden = hits.length === 0;
};
input.addEventListener("input", show);
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === "Escape") list.hidden = true;
});
