var i=`[role="toolbar"] {
  padding: 3px; /* room for the outline of the selected cell */
  display: flex;
  flex-wrap: wrap;
  gap: 0.25rem 0.9rem;
  font-size: 0.75rem;
}
[role="toolbar"] > span {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 2px;
}
.name {
  margin-right: 0.3rem;
}
button {
  box-sizing: border-box;
  width: 24px;
  height: 24px;
  padding: 0;
  font: inherit;
  line-height: 1;
  cursor: pointer;
  color: var(--st-text-color);
  background: var(--st-background-color);
  border: 1px solid var(--st-gray-color);
  border-radius: 3px;
}
button[aria-pressed="true"] {
  outline: 2px solid var(--st-primary-color);
  outline-offset: 1px;
}
.right {
  background: var(--st-green-background-color);
}
.wrong {
  background: var(--st-red-background-color);
}
.matched {
  background: var(--st-blue-background-color);
}
.unmatched {
  background: var(--st-orange-background-color);
}
`;var u={right:"✓",wrong:"✕",matched:"=",unmatched:"–"},b={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1},c=new WeakMap;function m(n){let{parentElement:e}=n,t=c.get(e);t||(t=new l(e),c.set(e,t)),t.show(n)}var l=class{constructor(e){let t=document.createElement("style");t.textContent=i,this.bar=document.createElement("div"),this.bar.setAttribute("role","toolbar"),this.bar.addEventListener("keydown",o=>this.step(o)),this.cells=new Map,e.append(t,this.bar)}show(e){this.component=e;let{label:t,groups:o}=e.data;this.bar.setAttribute("aria-label",t);let a=JSON.stringify(o.map(r=>[r.name,r.cells.map(s=>s.id)]));a!==this.ids&&this.build(o),this.ids=a;for(let r of o.flatMap(s=>s.cells)){let s=this.cells.get(r.id);s.className=r.state,s.textContent=u[r.state]??"",s.title=r.title,s.setAttribute("aria-label",r.title),s.setAttribute("aria-pressed",r.selected),s.tabIndex=r.selected?0:-1}}build(e){this.cells.clear(),this.bar.replaceChildren(...e.map(t=>{let o=document.createElement("span"),a=document.createElement("span");return a.textContent=t.name,a.className="name",o.append(a,...t.cells.map(r=>this.button(r.id))),o}))}button(e){let t=document.createElement("button");return t.type="button",t.addEventListener("click",()=>this.component.setTriggerValue("chosen",e)),this.cells.set(e,t),t}step(e){let t=[...this.cells.values()],o=t.indexOf(this.bar.getRootNode().activeElement),a=t[o+b[e.key]];o<0||!a||(e.preventDefault(),a.focus())}};export{m as default};
