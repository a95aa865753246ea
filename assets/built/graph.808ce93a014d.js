function G(s){let t=new WeakMap;return e=>{let{parentElement:i}=e;t.has(i)||t.set(i,new s(i));let n=t.get(i);return n.show(e),()=>{i.isConnected||!n.end||(n.end(),t.delete(i))}}}var lt="http://www.w3.org/2000/svg";function h(s,t={},...e){return P(document.createElement(s),t,e)}function p(s,t={},...e){return P(document.createElementNS(lt,s),t,e)}function P(s,t,e){for(let[i,n]of Object.entries(t))typeof n=="function"?s.addEventListener(i,n):n!=null&&n!==!1&&s.setAttribute(i,n===!0?"":n);return s.append(...e.filter(i=>i!=null&&i!==!1&&i!=="")),s}function g(s,t,e){let i=p("svg",{viewBox:"0 0 16 16","aria-hidden":"true"},p("path",{d:t}));return h("button",{type:"button",class:"icon","aria-label":s,title:s,click:e},i)}var j={pointwise:"M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",reduction:"M1 2h10L6 11z",normalisation:"M1 2.5h10v2.5H1zM1 7h10v2.5H1z",matmul:"M1 3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z",convolution:"M1 1h4.3v4.3H1zM6.7 1H11v4.3H6.7zM1 6.7h4.3V11H1zM6.7 6.7H11V11H6.7z",attention:"M6 0l1.6 4.4L12 6 7.6 7.6 6 12 4.4 7.6 0 6l4.4-1.6z",softmax:"M0 11c4 0 4-9 6-9s2 9 6 9z",embedding:"M1 1h10v2H1zM1 5h7v2H1zM1 9h10v2H1z",layout:"M3.5 2H12L8.5 10H0z",indexing:"M1 1h4v2H3v6h2v2H1zM11 1H7v2h2v6H7v2h4z",creation:"M4.8 1h2.4v3.8H11v2.4H7.2V11H4.8V7.2H1V4.8h3.8z",other:"M6 1l5 5-5 5-5-5z",input:"M1 2h6l4 4-4 4H1z",result:"M11 1H9v4L5 5V2L0 6.2 5 10.5V7.2h6z",chain:"M0 4.8h2.4v2.4H0zM4.8 4.8h2.4v2.4H4.8zM9.6 4.8H12v2.4H9.6z"};function A(s){return p("path",{class:"sign",d:j[s]??j.other})}var V=["bytes","KiB","MiB","GiB","TiB"];function y(s,t){let e=s.groups.find(({number:i})=>i===t.group);return[e?`${t.faint?"another match, by":"matched by"} ${e.mark} ${e.name}`:"",t.pair?`pair ${t.pair.mark}: ${t.pair.with}`:"",t.miss?`nearest miss${s.reason?`: ${s.reason}`:""}`:"",t.change==="+"?"added by the rewrite":t.change?"removed by the rewrite":""].filter(Boolean)}function E(s){return s.pair?s.pair.mark:s.group&&!s.faint?String(s.group):""}function C(s){return s.family==="input"?`input ${s.name}`:`${s.operator} ${s.name}`}function D(s,t,e){if(t.kind==="result")return s.result.code;if(t.kind==="chain")return`folded chain: ${t.lines.map(([,a])=>a).join(" ")}`;let i=t.nodes[0],n=s.nodes[i],r=a=>a.map(l=>s.nodes[l].name).join(", "),o=t.lines.map(([,a])=>a).join(" ");return[`${n.family==="input"?"input ":""}${o}${E(n)?` ${E(n)}`:""}`,n.inputs.length?`reads ${r(n.inputs)}`:"",e[i].length?`read by ${r(e[i])}`:"",...y(s,n)].filter(Boolean).join("; ")}function Y(s,t){if(t.kind==="result")return s.result.code;if(t.kind==="chain")return`${s.nodes[t.nodes[0]].code}
…
Click to unfold.`;let e=s.nodes[t.nodes[0]];return[e.code,e.line?`line ${e.line}`:"",...y(s,e)].filter(Boolean).join(`
`)}function K(s){let t=0,e=s;for(;e>=1024&&t<V.length-1;)e/=1024,t+=1;return`${t&&e<100?e.toPrecision(3):Math.round(e)} ${V[t]}`}function w(s,t){let e=t.trim().toLowerCase();return e!==""&&(s.name.toLowerCase().includes(e)||s.operator.toLowerCase().includes(e))}var ct="M4 4l8 8M12 4l-8 8";function X(s,t,e,{go:i,close:n,insert:r}){let o=s.nodes[t],a=c=>c.length?c.map(u=>h("button",{type:"button",class:"link",click:()=>i(u)},s.nodes[u].name)):["nothing"],l=[...y(s,o).map(c=>["Mark",[c]]),...ut(o.value),["Line",[o.line?String(o.line):"not known"]],["Reads",a(o.inputs)],["Read by",[...e[t].length?a(e[t]):[],...dt(s,t,e)]],["Family",[o.family==="input"?"input of the subgraph":o.family]]];return h("div",{class:"details",role:"region",tabindex:"-1","aria-label":`Details of ${o.name}`},h("div",{class:"head"},z(s,o.family),h("strong",{},C(o)),g("Close the details",ct,n)),h("pre",{tabindex:"0",role:"group","aria-label":"Expression"},h("code",{},o.code)),r&&h("button",{type:"button",class:"insert",click:()=>r(o.name)},"Insert into pattern"),h("dl",{},...l.flatMap(([c,u])=>[h("dt",{},c),h("dd",{},...u)])))}function dt(s,t,e){return s.result.inputs.includes(t)?[h("span",{},"return")]:e[t].length?[]:["nothing"]}function ut(s){return s?[["Shape",[s.shape.length?s.shape.join("×"):"scalar"]],["Dtype",[s.dtype]],...s.bytes===null?[]:[["Size",[K(s.bytes)]]]]:[["Value",["shape and dtype not known"]]]}function U(s,t,{words:e,selected:i,go:n}){let r=s.nodes.map((d,f)=>f).filter(d=>!e.trim()||w(s.nodes[d],e)),o=r.includes(i)?i:r[0],a=d=>d.map(f=>s.nodes[f].name).join(", "),l=r.map(d=>{let f=s.nodes[d],v=h("button",{type:"button",class:"link",tabindex:d===o?0:-1,"data-node":d,click:()=>n(d)},C(f));return h("tr",{"aria-current":d===i?"true":null},h("th",{scope:"row"},h("div",{},z(s,f.family),v)),h("td",{},a(f.inputs)),h("td",{},a(t[d])||(s.result.inputs.includes(d)?"return":"")),h("td",{},f.line===null?"":String(f.line)),h("td",{},y(s,f).join("; ")))}),c=["Node","Reads","Read by","Line","Marks"],u=h("tbody",{keydown:d=>pt(d)},...l);return h("table",{},h("caption",{},s.title),h("thead",{},h("tr",{},...c.map(d=>h("th",{scope:"col"},d)))),u)}function pt(s){let t=[...s.currentTarget.querySelectorAll("button")],e=t.indexOf(s.target),i={ArrowDown:e+1,ArrowUp:e-1,Home:0,End:t.length-1}[s.key];if(i===void 0)return;s.preventDefault(),t[e]?.setAttribute("tabindex","-1");let n=t[Math.max(0,Math.min(t.length-1,i))];n?.setAttribute("tabindex","0"),n?.focus()}function W(s){let t=s.nodes,e=(n,r,o)=>{let a=h("li",{class:"mark"},h("b",{},n),r);return o&&a.style.setProperty("--group",o),a},i=[...t.some(n=>n.pair)?mt(s,e):ft(s,e),t.some(n=>n.miss)&&e("✗","nearest miss","#d55e00"),t.some(n=>n.change==="+")&&e("+","added"),t.some(n=>n.change==="−")&&e("−","removed"),...s.families.map(({name:n})=>h("li",{},z(s,n),n)),t.some(n=>n.family==="input")&&h("li",{},z(s,"input"),"input")];return h("ul",{class:"legend","aria-label":"Legend"},...i.filter(Boolean))}function ft(s,t){return s.groups.map(({number:e,name:i,colour:n})=>t(String(e),i,n))}function mt({nodes:s,groups:t},e){let{colour:i,name:n}=t.find(({number:o})=>s.some(({pair:a})=>a?.group===o))??{},r=({pair:o})=>o&&!/^\d/.test(o.mark);return[s.some(({pair:o})=>/^\d/.test(o?.mark))&&e("1",`pair, ${n}`,i),s.some(r)&&e("a","paired input",i),s.some(({faint:o})=>o)&&e("⋯","another match")].filter(Boolean)}function z(s,t){let e=p("svg",{viewBox:"0 0 12 12",class:"family","aria-hidden":"true"},A(t)),i=s.families.find(({name:n})=>n===t)?.colour;return i&&e.style.setProperty("--family",i),e}var L=class{constructor(t){this.moved=t,this.view={width:0,height:0},this.picture={width:0,height:0},this.scale=1,this.x=0,this.y=0}get seen(){return this.view.width>0&&this.view.height>0}get whole(){let{width:t,height:e}=this.picture;return Math.min(1,(this.view.width-32)/t,(this.view.height-32)/e)}fit(){this.scale=this.whole,this.x=(this.view.width-this.picture.width*this.scale)/2,this.y=(this.view.height-this.picture.height*this.scale)/2,this.moved()}begin({first:t,marked:e}){if(this.fit(),this.scale>=.7)return;let i=(this.view.width-32)/this.picture.width;this.scale=Math.min(1,Math.max(.7,i)),this.centre(e??t),e||(this.y=16);let n=Math.min(16,this.view.height-this.picture.height*this.scale-16);this.y=Math.max(n,Math.min(16,this.y)),this.bound(),this.moved()}to(t,e=this.view.width/2,i=this.view.height/2){let n=Math.min(3,Math.max(Math.min(.5,this.whole/2),t)),r=n/this.scale;this.x=e-(e-this.x)*r,this.y=i-(i-this.y)*r,this.scale=n,this.moved()}by(t,e){this.x+=t,this.y+=e,this.bound(),this.moved()}bound(){let t=(e,i,n)=>Math.min(n-40,Math.max(40-i*this.scale,e));this.x=t(this.x,this.picture.width,this.view.width),this.y=t(this.y,this.picture.height,this.view.height)}centre({x:t,y:e}){this.x=this.view.width/2-t*this.scale,this.y=this.view.height/2-e*this.scale,this.moved()}aim(t){let e=Math.min((this.view.width-32)/(t.width+32),(this.view.height-32)/(t.height+32)),i=Math.min(e,Math.max(this.scale,.7));i!==this.scale&&this.to(i),this.reveal(t)}reveal({x:t,y:e,width:i,height:n}){let r=(o,a,l,c)=>{let u=a/2*this.scale+16,d=o*this.scale+l;return 2*u>c?c/2-d:Math.max(u-d,0)+Math.min(c-u-d,0)};this.x+=r(t,i,this.x,this.view.width),this.y+=r(e,n,this.y,this.view.height),this.moved()}};var gt={operator:["600",12.5],literals:["400",11],name:["400",11]},S=15,O=9,R=18,q=document.createElement("canvas").getContext("2d");function _(s,t,e){let i=s.chains.filter((u,d)=>t(d)),n=N(s),r=new Set,o=new Map;for(let u of i){let d=new Set(u.nodes),v=u.nodes.flatMap(m=>s.nodes[m].inputs).filter(m=>s.nodes[m].family==="input"&&n[m].every(H=>d.has(H))),x={kind:"chain",chain:s.chains.indexOf(u),nodes:[...u.nodes,...new Set(v)]};x.lines=vt(u);for(let m of x.nodes)o.set(m,x)}s.nodes.forEach((u,d)=>{let f=o.get(d)??{kind:u.family==="input"?"input":"node",nodes:[d]};f.lines??=xt(u),o.set(d,f),r.add(f)});let a={kind:"result",nodes:[],lines:[["operator","return"]]},l=bt(s,o,a),c=[...r,a];return wt(c,c.length>150?yt(c,l):l,e)}function xt({family:s,operator:t,literals:e,name:i}){return s==="input"?[["name",i]]:[["operator",t],e?["literals",e]:null,["name",i]].filter(Boolean)}function vt({nodes:s,operators:t,alike:e}){return[["operator",`${s.length} operations`],["literals",t.join(" → ")],e>1?["literals",`×${e}: one of ${e} alike`]:null].filter(Boolean)}function N(s){let t=s.nodes.map(()=>[]);return s.nodes.forEach((e,i)=>e.inputs.forEach(n=>t[n].push(i))),t}function bt(s,t,e){let i=new Map,n=(r,o)=>{r!==o&&(i.has(r)||i.set(r,new Set),i.get(r).add(o))};return s.nodes.forEach((r,o)=>r.inputs.forEach(a=>n(t.get(a),t.get(o)))),s.result.inputs.forEach(r=>n(t.get(r),e)),[...i].flatMap(([r,o])=>[...o].map(a=>({from:r,to:a})))}function yt(s,t){let e=new Map;for(let{from:r,to:o}of t)r.kind==="input"&&e.set(r,[...e.get(r)??[],o]);let i=new Map;for(let[r,o]of e)o.length>2&&i.set(r,new Map(o.map(a=>[a,{...r}])));let n=s.flatMap(r=>i.has(r)?[...i.get(r).values()]:[r]);return s.splice(0,s.length,...n),t.map(({from:r,to:o})=>({from:i.get(r)?.get(o)??r,to:o}))}function wt(s,t,e){s.forEach((n,r)=>{n.id=r,n.lines=n.lines.map(([a,l])=>[a,kt(l)]);let o=n.lines.map(([a,l])=>Mt(a,l,e));n.width=Math.ceil(2*O+R+Math.max(...o)),n.height=8+S*n.lines.length});let i=[...s.map(({id:n,width:r,height:o})=>`n${n} [width=${r/72} height=${o/72}]`),...t.map(({from:n,to:r})=>`n${n.id} -> n${r.id}`)];return{boxes:s,links:t,statements:i.join(";")}}function kt(s){return s.length>44?`${s.slice(0,43)}…`:s}function Mt(s,t,e){let[i,n]=gt[s];return q.font=`${i} ${n}px ${s==="name"?e.code:e.text}`,q.measureText(t).width}var $t="M-4 0h8M0 -4v8",At="M-4 0h8",Et="M-3.5 -3.5l7 7M3.5 -3.5l-7 7",Z=40;function J(s,t,e,i){let{width:n,height:r,kind:o}=t,a=o==="node"||o==="input"?s.nodes[t.nodes[0]]:null,l=a&&s.groups.find(({number:m})=>m===(a.group??a.pair?.group)),c=a?E(a):"",u=a?a.family:o,d=s.families.find(({name:m})=>m===u)?.colour,f=o==="input"||o==="result"?r/2:5,v=m=>p("rect",{x:-m,y:-m,width:n+2*m,height:r+2*m,rx:f+m,class:m?"outer":"frame"}),x=p("g",{id:i,role:"option","aria-selected":"false","aria-label":D(s,t,e),class:["box",o,a?.group&&"matched",a?.faint&&"faint",a?.miss&&"miss",a?.change&&"changed"].filter(Boolean).join(" "),transform:`translate(${t.x-n/2} ${t.y-r/2})`},p("title",{},Y(s,t)),p("g",{"aria-hidden":"true"},o==="chain"?p("path",{class:"stack",d:zt(n,r)}):null,a?.miss?v(4):null,v(0),p("g",{transform:`translate(${O} ${4+(S-12)/2})`},A(u)),...t.lines.flatMap(([m,H],ht)=>[p("text",{class:m,x:O+R,y:4+S*ht+11.5},H)," "]),c?B(0,"group",p("text",{y:4.5,"text-anchor":"middle"},c)):null,a?.change?B(n,"change",p("path",{d:a.change==="+"?$t:At})):null,a?.miss?B(n,"missed",p("path",{d:Et})):null));return d&&x.style.setProperty("--family",d),l&&x.style.setProperty("--group",l.colour),x}function B(s,t,e){let i=9+3*Math.max(0,e.textContent.length-1);return p("g",{class:`badge ${t}`,transform:`translate(${s} 0)`},p("rect",{x:-i,y:-9,width:2*i,height:18,rx:9}),e)}function zt(s,t){return`M5 ${t+3}H${s+3}V5M8 ${t+6}H${s+6}V8`}function Q(s){let t=[];for(let e=0;e<s.length;e+=Z)t.push(...I(s.slice(e,e+Z)));return t}function I(s){return[p("path",{class:"line",d:s.map(Lt).join("")}),p("path",{class:"tip",d:s.map(St).join("")})]}function Lt({curve:[s,t,...e],tip:[i,n]}){return`M${s} ${t}C${e.join(" ")}L${i} ${n}`}function St({curve:s,tip:[t,e]}){let[i,n]=s.slice(-2),r=Math.hypot(t-i,e-n)||1,[o,a]=[(t-i)/r*7,(e-n)/r*7];return`M${t} ${e}L${t-o-a*.4} ${e-a+o*.4}L${t-o+a*.4} ${e-a-o*.4}z`}var Ot="splines=line nslimit=2 nslimit1=2 mclimit=0.2",k=new Map,M=null,T=0,Ht=0,tt=Promise.resolve();function st(){T+=1}function nt(){T-=1,T||rt()}function ot(s,t){let e=k.get(s);if(e)return Promise.resolve(e);let i=tt.then(async()=>{if(!t())return null;let n=await it(et("",s)).catch(()=>it(et(Ot,s)));return k.set(s,n),k.size>12&&k.delete(k.keys().next().value),n});return tt=i.catch(()=>{}),i}function et(s,t){return`digraph { graph [ranksep=0.3 nodesep=0.2 ${s}] node [shape=box fixedsize=true label=""] ${t} }`}function it(s){M??=new Worker(new URL("./layout.387766810ec4.js",import.meta.url),{type:"module"});let t=++Ht,e=M;return new Promise((i,n)=>{let r=a=>{M===e&&rt(),n(new Error(a))},o=setTimeout(()=>r("The layout takes too long."),5e3);e.onmessage=({data:a})=>{a.id===t&&(clearTimeout(o),a.layout?i(a.layout):r(a.problem))},e.onerror=a=>{a.preventDefault(),clearTimeout(o),r("The layout could not start.")},e.postMessage({id:t,dot:s})})}function rt(){M?.terminate(),M=null}var at=`.graph {
  --ink: var(--st-text-color);
  --paper: var(--st-background-color);
  --muted: color-mix(in srgb, var(--ink) 72%, var(--paper));
  --faint: color-mix(in srgb, var(--ink) 45%, var(--paper));
  --accent: var(--st-primary-color);
  --family: #999999;
  display: flex;
  flex-direction: column;
  gap: 6px;
  box-sizing: border-box;
  min-height: 220px;
  container-type: inline-size;
  font-family: var(--st-font, sans-serif);
  font-size: 13px;
  line-height: 1.4;
  color: var(--ink);
  background: var(--paper);
}
:host:has(.filling) {
  display: block;
  height: 100%;
}
.graph.filling {
  height: 100%;
  min-height: 300px;
}
.graph:fullscreen {
  height: 100% !important;
  padding: 12px;
}
[hidden] {
  display: none !important;
}
.bar {
  display: flex;
  flex-wrap: wrap;
  gap: 6px;
  align-items: center;
}
.search {
  position: relative;
  flex: 1 1 130px;
  min-width: 0;
}
.search input {
  box-sizing: border-box;
  width: 100%;
  height: 28px;
  padding: 0 8px;
  font: inherit;
  color: inherit;
  background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius, 4px);
}
.search input::placeholder {
  color: var(--muted);
  opacity: 1;
}
.search input::-webkit-search-cancel-button {
  display: none;
}
.hits {
  position: absolute;
  right: 8px;
  top: 5px;
  font-size: 12px;
  color: var(--muted);
  pointer-events: none;
}
.tools {
  display: flex;
  gap: 2px;
}
button {
  font: inherit;
  color: inherit;
  background: none;
  border: 1px solid transparent;
  border-radius: var(--st-base-radius, 4px);
  cursor: pointer;
}
button:disabled {
  opacity: 0.4;
  cursor: default;
}
button.icon,
button.percent {
  min-width: 28px;
  height: 28px;
  padding: 0 4px;
}
button.percent {
  min-width: 48px;
  font-size: 12px;
  font-variant-numeric: tabular-nums;
}
button.icon svg {
  display: block;
  width: 16px;
  height: 16px;
  margin: auto;
  fill: none;
  stroke: currentColor;
  stroke-width: 1.5;
  stroke-linecap: round;
  stroke-linejoin: round;
}
button.icon:hover:enabled,
button.percent:hover:enabled {
  background: var(--st-secondary-background-color);
  border-color: var(--st-border-color);
}
button[aria-pressed="true"] {
  background: color-mix(in srgb, var(--accent) 18%, var(--paper));
  border-color: var(--accent);
}
:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 1px;
}
.middle {
  display: flex;
  flex-direction: column;
  flex: 1;
  gap: 6px;
  min-height: 0;
}
.stage {
  position: relative;
  display: flex;
  flex: 1 1 160px;
  min-width: 0;
  min-height: 120px;
  overflow: hidden;
  border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius, 4px);
}
.stage:has(.canvas:focus-visible) {
  outline: 2px solid var(--accent);
  outline-offset: 1px;
}
.canvas {
  flex: 1;
  min-width: 0;
  overflow: hidden;
  outline: none;
  cursor: grab;
  user-select: none;
  touch-action: pan-y;
}
.graph:fullscreen .canvas {
  height: auto !important;
  touch-action: none;
}
.canvas:active {
  cursor: grabbing;
}
.canvas svg {
  display: block;
  width: 100%;
  height: 100%;
}
.graph[aria-busy] .stage::after {
  content: "Laying out…";
  position: absolute;
  inset: auto auto 8px 8px;
  font-size: 12px;
  color: var(--muted);
  animation: late 0.4s steps(1) backwards;
}
@keyframes late {
  from {
    opacity: 0;
  }
}
.hint {
  position: absolute;
  inset: auto 8px 8px 8px;
  margin: 0;
  padding: 4px 8px;
  text-align: center;
  font-size: 12px;
  background: var(--st-secondary-background-color);
  border-radius: var(--st-base-radius, 4px);
  opacity: 0;
  pointer-events: none;
}
.hint.shown {
  opacity: 1;
}
.problem {
  margin: 0;
}
.problem:empty {
  display: none;
}

/* the picture */
.edges .line,
.near .line {
  fill: none;
  stroke: var(--faint);
  stroke-width: 1.2;
}
.edges .tip {
  fill: var(--faint);
}
.near .line {
  stroke: var(--accent);
  stroke-width: 2.2;
}
.near .tip {
  fill: var(--accent);
}
.box {
  cursor: pointer;
}
.frame {
  fill: color-mix(in srgb, var(--family) 9%, var(--paper));
  stroke: color-mix(in srgb, var(--family) 80%, var(--ink));
  stroke-width: 1.4;
}
.input .frame,
.result .frame {
  fill: var(--st-secondary-background-color);
  stroke: var(--faint);
}
.sign {
  fill: color-mix(in srgb, var(--family) 80%, var(--ink));
}
.input .sign,
.result .sign,
.chain .sign {
  fill: var(--muted);
}
.box text {
  font-family: var(--st-font, sans-serif);
  font-size: 11px;
  fill: var(--muted);
}
.box text.operator {
  font-size: 12.5px;
  font-weight: 600;
  fill: var(--ink);
}
.box text.name {
  font-family: var(--st-code-font, monospace);
}
.input text.name {
  fill: var(--ink);
}
.stack {
  fill: none;
  stroke: var(--faint);
  stroke-width: 1.2;
}
.matched .frame {
  fill: color-mix(in srgb, var(--group) 28%, var(--paper));
  stroke: var(--group);
  stroke-width: 2.6;
}
.matched.faint .frame {
  fill: color-mix(in srgb, var(--group) 8%, var(--paper));
  stroke-width: 1.6;
  stroke-dasharray: 2 4;
}
.changed .frame {
  stroke: var(--ink);
  stroke-width: 1.8;
  stroke-dasharray: 5 3;
}
.changed.matched .frame {
  stroke: var(--group);
  stroke-width: 2.6;
}
.miss .frame,
.outer {
  fill: none;
  stroke: #d55e00;
  stroke-width: 2;
  stroke-dasharray: 5 3;
}
.miss .frame {
  fill: color-mix(in srgb, #d55e00 14%, var(--paper));
}
.badge rect {
  fill: var(--paper);
  stroke: var(--ink);
  stroke-width: 1.4;
}
.badge text,
.box .badge text {
  font-size: 13px;
  font-weight: 600;
  fill: var(--ink);
}
.badge.group rect {
  stroke: var(--group);
  stroke-width: 2;
}
.badge.missed rect {
  stroke: #d55e00;
  stroke-width: 2;
}
.badge path {
  fill: none;
  stroke: var(--ink);
  stroke-width: 2;
}
.box.found .frame {
  stroke: var(--accent);
  stroke-width: 3;
}
.box.selected .frame,
.canvas:focus-visible .box.active .frame {
  stroke: var(--accent);
  stroke-width: 3.6;
  stroke-dasharray: none;
}
.far .matched:not(.faint) .frame {
  fill: var(--group);
}
.far text,
.far .sign,
.far .stack {
  display: none;
}
.far .frame {
  fill: color-mix(in srgb, var(--family) 60%, var(--paper));
  stroke-width: 3;
}

.said {
  position: absolute;
  width: 1px;
  height: 1px;
  margin: 0;
  overflow: hidden;
  clip-path: inset(50%);
}

/* beside the picture */
.beside:empty {
  display: none;
}
.beside {
  flex: 0 1 auto;
  min-height: 0;
  max-height: 200px;
  overflow: auto;
  border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius, 4px);
}
@container (min-width: 560px) {
  .middle {
    flex-direction: row;
  }
  .beside {
    flex: 0 0 250px;
    max-height: 600px;
  }
}
.details {
  outline: none;
  padding: 8px 10px;
}
.head {
  display: flex;
  gap: 6px;
  align-items: center;
}
.head strong {
  flex: 1;
  min-width: 0;
  overflow-wrap: anywhere;
}
.family {
  flex: none;
  width: 12px;
  height: 12px;
}
pre {
  margin: 6px 0;
  padding: 6px 8px;
  max-height: 120px;
  overflow: auto;
  font-family: var(--st-code-font, monospace);
  font-size: 12px;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  background: var(--st-code-background-color, var(--st-secondary-background-color));
  border-radius: var(--st-base-radius, 4px);
}
pre code {
  font: inherit;
}
dl {
  display: grid;
  grid-template-columns: max-content 1fr;
  gap: 2px 10px;
  margin: 6px 0 0;
}
dt {
  color: var(--muted);
}
dd {
  margin: 0;
  min-width: 0;
  overflow-wrap: anywhere;
}
button.link {
  padding: 0;
  margin-right: 8px;
  text-align: left;
  font-family: var(--st-code-font, monospace);
  font-size: 12px;
  color: var(--st-link-color, var(--accent));
  text-decoration: underline;
  overflow-wrap: anywhere;
}
button.insert {
  padding: 3px 10px;
  border-color: var(--accent);
}
button.insert:hover {
  background: color-mix(in srgb, var(--accent) 14%, var(--paper));
}
.list {
  flex: 1;
  max-height: 600px;
  overflow: auto;
}
table {
  width: 100%;
  border-collapse: collapse;
  font-size: 12px;
}
caption {
  padding: 4px 8px;
  text-align: left;
  color: var(--muted);
}
th,
td {
  padding: 3px 8px;
  text-align: left;
  vertical-align: top;
  border-top: 1px solid var(--st-border-color);
}
thead th {
  position: sticky;
  top: 0;
  background: var(--st-secondary-background-color);
  font-weight: 600;
}
tbody th {
  font-weight: 400;
}
tbody th div {
  display: flex;
  gap: 6px;
  align-items: center;
}
tr[aria-current] {
  background: color-mix(in srgb, var(--accent) 14%, var(--paper));
}
.legend {
  display: flex;
  flex-wrap: wrap;
  gap: 2px 12px;
  margin: 0;
  padding: 0;
  list-style: none;
  font-size: 12px;
  color: var(--muted);
}
.legend li {
  display: inline-flex;
  gap: 5px;
  align-items: center;
}
.legend .mark {
  color: var(--ink);
  overflow-wrap: anywhere;
}
.legend b {
  display: inline-block;
  min-width: 18px;
  line-height: 16px;
  text-align: center;
  border: 2px solid var(--group, currentColor);
  border-radius: 10px;
}
@media (forced-colors: active) {
  .frame {
    stroke: CanvasText;
  }
  .selected .frame,
  .near .line {
    stroke: Highlight;
  }
}
`;var $=1.25,Rt=4,Nt=.32,Bt=220,It=600,Tt=560,Ft=210,b={out:"M3 8h10",in:"M3 8h10M8 3v10",fit:"M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",fold:"M3 3h10M3 13h10M4 8h1M7.5 8h1M11 8h1",list:"M6 4h8M6 8h8M6 12h8M2 4h1M2 8h1M2 12h1",full:"M9 7l5-5M10 2h4v4M7 9l-5 5M6 14H2v-4"},Gt=0,F=class{constructor(t){this.name=`graph-${++Gt}`,this.camera=new L(()=>this.moved()),this.pointers=new Map,this.build(),t.append(this.style,this.root),this.observer=new ResizeObserver(()=>this.resized()),this.observer.observe(this.canvas),st()}end(){this.ended=!0,this.observer.disconnect(),cancelAnimationFrame(this.frame),this.style.remove(),this.root.remove(),nt()}build(){this.style=h("style",{},at),this.search=h("input",{type:"search",placeholder:"Find a node","aria-label":"Find a node by name or operator",spellcheck:"false",input:()=>this.searched(),keydown:i=>this.searchKey(i)}),this.hits=h("span",{class:"hits",role:"status"}),this.percent=h("button",{type:"button",class:"percent",title:"100 % (1)",click:()=>this.camera.to(1)}),this.foldButton=g("Fold long chains",b.fold,()=>this.fold(!this.folded)),this.listButton=g("List",b.list,()=>this.toggleList(!this.listed)),this.fullButton=g("Full screen",b.full,()=>this.toggleFull()),this.fullButton.hidden=!document.fullscreenEnabled,this.cameraButtons=[g("Zoom out (−)",b.out,()=>this.camera.to(this.camera.scale/$)),this.percent,g("Zoom in (+)",b.in,()=>this.camera.to(this.camera.scale*$)),g("Fit (0)",b.fit,()=>this.camera.fit())];let t=[...this.cameraButtons,this.foldButton,this.listButton,this.fullButton],e=h("div",{class:"bar"},h("div",{class:"search"},this.search,this.hits),h("div",{class:"tools",role:"group","aria-label":"View"},...t));this.edges=p("g",{class:"edges",role:"none"}),this.near=p("g",{class:"near",role:"none"}),this.boxes=p("g",{role:"none"}),this.world=p("g",{role:"none"},this.edges,this.near,this.boxes),this.canvas=h("div",{class:"canvas",role:"listbox",tabindex:"0",keydown:i=>this.key(i),focus:()=>this.focused(),pointerdown:i=>this.pressed(i),pointermove:i=>this.dragged(i),pointerup:i=>this.released(i),pointercancel:i=>this.pointers.delete(i.pointerId)},p("svg",{role:"none"},this.world)),this.canvas.addEventListener("wheel",i=>this.wheeled(i),{passive:!1}),this.hint=h("p",{class:"hint","aria-hidden":"true"}),this.table=h("div",{class:"list"}),this.beside=h("div",{class:"beside",keydown:i=>i.key==="Escape"&&this.close()}),this.problem=h("p",{class:"problem",role:"status"}),this.legend=h("div",{}),this.said=h("p",{class:"said",role:"status"}),this.root=h("div",{class:"graph"},e,this.problem,h("div",{class:"middle"},h("div",{class:"stage"},this.canvas,this.hint,this.table),this.beside),this.legend,this.said),this.root.addEventListener("fullscreenchange",()=>this.placed=!1),this.toggleList(!1)}show(t){this.component=t;let e=JSON.stringify(t.data);if(e===this.given)return;let i=this.data;this.given=e,this.data=t.data,this.users=N(this.data);let n=i&&i.nodes.map(r=>r.code).join(`
`)===this.data.nodes.map(r=>r.code).join(`
`);n||(this.open=new Set,this.folded=this.data.folded&&this.data.chains.length>0,this.selected=null,this.active=null,this.layout=null,this.search.value="",this.placed=!1),this.canvas.setAttribute("aria-label",this.data.title),this.at=this.data.step?.at,i&&this.said.textContent!==(this.data.step?.said??"")&&(this.said.textContent=this.data.step?.said??""),this.foldButton.hidden=!this.data.chains.length,this.measureRoot(),this.legend.replaceChildren(W(this.data)),this.arrange(n&&!this.placedHere()?this.anchor():null),this.detail(),this.listed&&this.drawList()}async arrange(t=this.anchor()){let e=getComputedStyle(this.root);await document.fonts.ready;let i=_(this.data,n=>this.folded&&!this.open.has(this.data.chains[n].nodes[0]),{text:e.fontFamily,code:e.getPropertyValue("--st-code-font")||"monospace"});this.foldButton.setAttribute("aria-pressed",String(this.folded)),this.wanted=i,this.root.setAttribute("aria-busy","true");try{let n=await ot(i.statements,()=>this.wanted===i&&!this.ended);if(!n||this.wanted!==i||this.ended)return;this.problem.textContent="",this.draw(i,n,t)}catch{if(this.wanted!==i||this.ended)return;this.problem.textContent="This graph could not be laid out as a picture. Here it is as a list.",this.layout=null,this.toggleList(!0)}this.root.removeAttribute("aria-busy"),this.arranged?.(),this.arranged=null}draw(t,e,i){let n=i!==null&&this.scene?this.boxOf(i):null,[r,o]=n?[n.x,n.y]:[0,0],a=this.active===null?null:this.scene?.boxes[this.active];t.boxes.forEach((c,u)=>[c.x,c.y]=e.boxes[u]),this.scene=t,this.layout=e,this.camera.picture={width:e.width,height:e.height},this.figures=t.boxes.map(c=>J(this.data,c,this.users,`${this.name}-${c.id}`)),this.figures.forEach((c,u)=>c.box=t.boxes[u]),this.boxes.replaceChildren(...this.figures),this.edges.replaceChildren(...Q(e.edges)),a&&(this.active=a.nodes.length?this.boxOf(a.nodes[0]).id:t.boxes.length-1),this.measureStage();let l=n&&this.boxOf(i);l?this.camera.by((r-l.x)*this.camera.scale,(o-l.y)*this.camera.scale):this.place(),this.placed&&this.aimed!==this.data.focus?.join()&&this.aim(),this.look()}aim(){this.aimed=this.data.focus?.join();let t=(this.data.focus??[]).map(a=>this.boxOf(a));if(!t.length)return;let e=(a,l)=>Math[l](...t.map(c=>c[a[0]]+(l==="max"?.5:-.5)*c[a[1]])),[i,n]=[e(["x","width"],"min"),e(["x","width"],"max")],[r,o]=[e(["y","height"],"min"),e(["y","height"],"max")];this.camera.aim({x:(i+n)/2,y:(r+o)/2,width:n-i,height:o-r})}measureRoot(){let t=this.selected!==null&&this.root.clientWidth<Tt?Ft:0,e=this.data.height==="stretch";this.root.classList.toggle("filling",e),this.root.style.height=this.data.height&&!e?`${this.data.height+t}px`:""}measureStage(){if(!this.data.height){let{width:t,height:e}=this.camera.picture,i=Math.min(1,(this.canvas.clientWidth||t)/(t+32));this.canvas.style.height=`${Math.min(It,Math.max(Bt,e*i+40))}px`}this.measureView()}measureView(){this.camera.view={width:this.canvas.clientWidth,height:this.canvas.clientHeight}}place(){if(this.placed=this.camera.seen,!this.placed)return;let t=this.data.nodes.findIndex(i=>i.group&&!i.faint||i.miss||i.change),e=this.scene.boxes[this.layout.edges[0]?.from??0];this.camera.begin({first:e,marked:t<0?null:this.boxOf(t)}),this.aim(),this.begun=this.sight()}sight(){let{x:t,y:e,scale:i}=this.camera;return`${t} ${e} ${i}`}placedHere(){return this.placed&&this.begun===this.sight()&&this.selected===null}resized(){if(!this.layout)return;let t=this.camera.view;this.measureView(),this.camera.seen&&(this.placed?(this.camera.by((this.camera.view.width-t.width)/2,0),this.selected!==null&&this.camera.reveal(this.boxOf(this.selected))):(this.measureStage(),this.place()))}boxOf(t){return this.scene.boxes.find(e=>e.nodes.includes(t))??null}anchor(){if(!this.layout)return null;let t=this.selected??(this.active===null?null:this.scene.boxes[this.active].nodes[0]??null);if(t!==null)return t;let{width:e,height:i}=this.camera.view,[n,r]=[(e/2-this.camera.x)/this.camera.scale,(i/2-this.camera.y)/this.camera.scale],o=l=>Math.hypot(l.x-n,l.y-r),a=this.scene.boxes.filter(l=>l.nodes.length);return a.length?a.reduce((l,c)=>o(c)<o(l)?c:l).nodes[0]:null}moved(){cancelAnimationFrame(this.frame),this.frame=requestAnimationFrame(()=>{let{x:t,y:e,scale:i}=this.camera;this.world.setAttribute("transform",`translate(${t.toFixed(2)} ${e.toFixed(2)}) scale(${i.toFixed(4)})`),this.canvas.classList.toggle("far",i<Nt),this.percent.textContent=`${Math.round(i*100)} %`,this.percent.setAttribute("aria-label",`${Math.round(i*100)} %, zoom to 100 % (1)`)})}look(){if(!this.layout)return;let t=this.search.value;for(let i of this.figures){let{box:n}=i,r=this.selected!==null&&n.nodes.includes(this.selected);i.classList.toggle("active",n.id===this.active),i.classList.toggle("selected",r),i.classList.toggle("found",n.nodes.some(o=>w(this.data.nodes[o],t))),i.setAttribute("aria-selected",String(r))}let e=this.active;this.near.replaceChildren(...I(this.layout.edges.filter(({from:i,to:n})=>i===e||n===e))),e===null?this.canvas.removeAttribute("aria-activedescendant"):this.canvas.setAttribute("aria-activedescendant",this.figures[e].id)}activate(t,e=!0){this.active=t.id,this.look(),e&&this.camera.reveal(t)}choose(t){this.activate(t),t.kind==="chain"?this.unfold(t):this.select(t.kind==="result"?null:t.nodes[0])}select(t){this.selected=t,this.look(),this.detail(),this.listed&&this.markRow()}unfold(t){let e=this.data.chains[t.chain];this.open.add(e.nodes[0]),this.arrange(e.nodes[0])}fold(t){this.folded=t,this.open.clear(),this.arrange()}async go(t){if(this.layout){let e=this.boxOf(t);if(e.kind==="chain"){let i=new Promise(n=>this.arranged=n);this.unfold(e),await i}this.layout&&this.activate(this.boxOf(t))}this.select(t)}detail(){let t=this.selected===null?[]:[X(this.data,this.selected,this.users,{go:i=>this.go(i),close:()=>this.close(),insert:this.data.insertable&&(i=>this.component.setTriggerValue("insert",i))})],e=this.beside.contains(this.root.getRootNode().activeElement);this.beside.replaceChildren(...t),this.measureRoot(),e&&this.beside.firstElementChild?.focus()}close(){this.select(null),this.listed?this.table.querySelector("[data-node][tabindex='0']")?.focus():this.canvas.focus({preventScroll:!0})}toggleList(t){this.listed=t,this.canvas.hidden=t,this.table.hidden=!t;for(let e of this.cameraButtons)e.disabled=t;this.listButton.setAttribute("aria-pressed",String(t)),t?this.drawList():this.table.replaceChildren()}drawList(){let t={words:this.search.value,selected:this.selected,go:e=>this.go(e)};this.table.replaceChildren(U(this.data,this.users,t))}markRow(){for(let t of this.table.querySelectorAll("[data-node]")){let e=Number(t.dataset.node)===this.selected;t.setAttribute("tabindex",e?"0":"-1");let i=t.closest("tr");e?i.setAttribute("aria-current","true"):i.removeAttribute("aria-current"),e&&i.scrollIntoView({block:"nearest"})}this.table.querySelector("[tabindex='0']")||this.table.querySelector("[data-node]")?.setAttribute("tabindex","0")}get hitNodes(){return this.data.nodes.flatMap((t,e)=>w(t,this.search.value)?[e]:[])}searched(){this.hit=-1;let t=this.hitNodes.length;this.hits.textContent=this.search.value.trim()?t?`${t} found`:"none found":"",this.look(),this.listed&&this.drawList()}searchKey(t){if(t.key==="Escape"&&this.search.value&&(t.preventDefault(),this.search.value="",this.searched()),t.key!=="Enter")return;t.preventDefault();let e=this.hitNodes;e.length&&(this.hit=(this.hit+(t.shiftKey?-1:1)+e.length)%e.length,this.hit<0&&(this.hit=e.length-1),this.hits.textContent=`${this.hit+1} of ${e.length}`,this.go(e[this.hit]))}async toggleFull(){document.fullscreenElement?await document.exitFullscreen():await this.root.requestFullscreen().catch(()=>this.fullButton.hidden=!0)}wheeled(t){let e=this.root.matches(":fullscreen");if(!t.ctrlKey&&!t.metaKey&&!e){this.say("Hold Ctrl and turn the wheel to zoom; drag to move.");return}t.preventDefault();let{left:i,top:n}=this.canvas.getBoundingClientRect(),r=t.deltaY*(t.deltaMode?16:1),o=Math.exp(-Math.max(-80,Math.min(80,r))/300);this.camera.to(this.camera.scale*o,t.clientX-i,t.clientY-n)}say(t){this.hint.textContent=t,this.hint.classList.add("shown"),clearTimeout(this.hintEnds),this.hintEnds=setTimeout(()=>this.hint.classList.remove("shown"),1500)}pressed(t){t.button===0&&(this.pointers.set(t.pointerId,{x:t.clientX,y:t.clientY}),this.press={x:t.clientX,y:t.clientY,moved:this.pointers.size>1})}dragged(t){let e=this.pointers.get(t.pointerId);if(!e)return;let i=Math.hypot(t.clientX-this.press.x,t.clientY-this.press.y);if(!this.press.moved&&i<Rt)return;this.press.moved||this.canvas.setPointerCapture(t.pointerId),this.press.moved=!0;let n=[...this.pointers].filter(([o])=>o!==t.pointerId),r=1/(1+n.length);if(this.camera.by((t.clientX-e.x)*r,(t.clientY-e.y)*r),n.length===1){let[,o]=n[0],a=Math.hypot(e.x-o.x,e.y-o.y),l=Math.hypot(t.clientX-o.x,t.clientY-o.y),{left:c,top:u}=this.canvas.getBoundingClientRect(),[d,f]=[(t.clientX+o.x)/2-c,(t.clientY+o.y)/2-u];a>0&&this.camera.to(this.camera.scale*l/a,d,f)}this.pointers.set(t.pointerId,{x:t.clientX,y:t.clientY})}released(t){if(!this.pointers.delete(t.pointerId)||this.press.moved)return;let e=t.target.closest(".box");e&&this.choose(e.box)}focused(){if(this.active!==null||!this.layout)return;let t=this.data.nodes.findIndex(e=>e.group&&!e.faint||e.miss||e.change);this.active=t<0?0:this.boxOf(t).id,this.look()}key(t){if(t.ctrlKey||t.metaKey||t.altKey||!this.layout)return;let{camera:e,scene:i}=this,n={ArrowDown:()=>this.step("to"),ArrowUp:()=>this.step("from"),ArrowRight:()=>this.along(1),ArrowLeft:()=>this.along(-1),Home:()=>this.activate(this.inOrder()[0]),End:()=>this.activate(this.inOrder().at(-1)),Enter:()=>this.choose(i.boxes[this.active])," ":()=>this.choose(i.boxes[this.active]),Escape:()=>this.selected!==null&&this.select(null),"+":()=>e.to(e.scale*$),"=":()=>e.to(e.scale*$),"-":()=>e.to(e.scale/$),0:()=>e.fit(),1:()=>e.to(1),"/":()=>this.search.focus(),n:()=>this.turn(1),p:()=>this.turn(-1)}[t.key];n&&(t.preventDefault(),this.focused(),n())}turn(t){let{step:e}=this.data;e&&(this.at=(this.at+t+e.of)%e.of,this.component.setTriggerValue("step",this.at))}step(t){let e=this.scene.boxes[this.active],i=t==="to"?"from":"to",n=this.layout.edges.filter(l=>l[i]===e.id).map(l=>this.scene.boxes[l[t]]),r=this.scene.boxes.filter(l=>t==="to"?l.y>e.y+1:l.y<e.y-1),o=n.length?n:r;if(!o.length)return;let a=l=>Math.abs(l.y-e.y)*4+Math.abs(l.x-e.x);this.activate(o.reduce((l,c)=>a(c)<a(l)?c:l))}along(t){let e=this.inOrder(),i=e[e.indexOf(this.scene.boxes[this.active])+t];i&&this.activate(i)}inOrder(){return[...this.scene.boxes].sort((t,e)=>Math.abs(t.y-e.y)>1?t.y-e.y:t.x-e.x)}},pe=G(F);export{pe as default};
