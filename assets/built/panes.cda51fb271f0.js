function l(h){let t=new WeakMap;return e=>{let{parentElement:i}=e;t.has(i)||t.set(i,new h(i));let s=t.get(i);return s.show(e),()=>{i.isConnected||!s.end||(s.end(),t.delete(i))}}}var c=`[role="separator"] {
  position: absolute;
  width: 12px;
  margin-left: -6px;
  cursor: col-resize;
  touch-action: none;
  pointer-events: auto;
}
[role="separator"]::after {
  content: "";
  position: absolute;
  inset: 0 5px;
  background: var(--st-border-color);
}
[role="separator"]:is(:hover, :focus-visible)::after {
  inset: 0 4px;
  background: var(--st-primary-color);
}
[role="separator"]:focus-visible {
  outline: none;
}
`;var n=12,d=2,a=class{constructor(t){let e=document.createElement("style");e.textContent=c,this.root=document.createElement("div"),t.append(e,this.root),this.host=t.host??t,this.observer=new ResizeObserver(()=>this.place())}end(){this.observer.disconnect()}show({data:t}){let e=JSON.stringify(t);this.given!==e&&(this.given=e,this.data=t,this.widths=this.kept()??t.widths,this.handles=t.names.slice(1).map((i,s)=>this.handle(s)),this.root.replaceChildren(...this.handles)),this.observer.disconnect(),this.panes.forEach(i=>this.observer.observe(i)),this.apply()}get panes(){return[...this.host.closest(`.${this.data.within}`)?.querySelectorAll('[data-testid="stHorizontalBlock"]')[0]?.children??[]].slice(0,this.data.names.length)}handle(t){let e=document.createElement("div"),i=`Border between ${this.data.names[t]} and ${this.data.names[t+1]}`;for(let[s,o]of Object.entries({role:"separator",tabindex:"0","aria-orientation":"vertical","aria-label":i,title:"Drag to resize; double-click to reset"}))e.setAttribute(s,o);return e.addEventListener("pointerdown",s=>{e.setPointerCapture(s.pointerId),s.preventDefault(),e.focus()}),e.addEventListener("pointermove",s=>{e.hasPointerCapture(s.pointerId)&&this.drag(t,s.clientX)}),e.addEventListener("pointerup",()=>this.keep()),e.addEventListener("dblclick",()=>this.reset()),e.addEventListener("keydown",s=>{let o={ArrowLeft:-d,ArrowRight:d}[s.key];if(o)this.move(t,this.widths[t]+o);else if(s.key==="Home")this.reset();else return;s.preventDefault(),this.keep()}),e}drag(t,e){let i=this.panes,s=i[t].getBoundingClientRect().left,o=i[t+1].getBoundingClientRect().right-s;this.move(t,(e-s)/o*(this.widths[t]+this.widths[t+1]))}move(t,e){let i=this.widths[t]+this.widths[t+1],s=Math.min(i-n,Math.max(n,e));this.widths=this.widths.map((o,r)=>r===t?s:r===t+1?i-s:o),this.apply()}reset(){this.widths=this.data.widths,this.apply(),this.keep()}apply(){this.widths.forEach((t,e)=>document.documentElement.style.setProperty(`--pane-${e+1}`,t)),this.handles.forEach((t,e)=>{t.setAttribute("aria-valuenow",Math.round(this.widths[e])),t.setAttribute("aria-valuemin",n),t.setAttribute("aria-valuemax",Math.round(this.widths[e]+this.widths[e+1]-n))}),this.place()}place(){let t=this.panes,e=this.host.getBoundingClientRect();this.handles.forEach((i,s)=>{let[o,r]=[t[s],t[s+1]].map(p=>p?.getBoundingClientRect());!o||!r||(i.style.left=`${(o.right+r.left)/2-e.left}px`,i.style.top=`${o.top-e.top}px`,i.style.height=`${o.height}px`)})}get key(){return`passnet widths ${this.data.within} ${this.data.names.length}`}keep(){try{localStorage.setItem(this.key,JSON.stringify(this.widths))}catch{}}kept(){try{let t=JSON.parse(localStorage.getItem(this.key));return Array.isArray(t)&&t.length===this.data.names.length&&t.every(i=>i>=n)?t:null}catch{return null}}},v=l(a);export{v as default};
