# Makes automaton.json, with numpy alone: synapses by the integer
# generator g1 of the assembly references, weight 1 + 0.01 jitter, so that nothing ties.
import numpy as np, json
U=np.uint64
def mix(z):
    with np.errstate(over='ignore'):
        z=z+U(0x9E3779B97F4A7C15); z=(z^(z>>U(30)))*U(0xBF58476D1CE4E5B9); z=(z^(z>>U(27)))*U(0x94D049BB133111EB); return z^(z>>U(31))
def u(seed,f,n,m):
    base=mix(np.array([(seed<<32)+f],dtype=U))
    return mix(base^((np.arange(n,dtype=U)<<U(32))[:,None]^np.arange(m,dtype=U)[None,:]))
def W(seed,f,n,m,p):
    e=(u(seed,f,n,m)>>U(32))<U(int(p*2**32))
    j=(u(seed,f+1000,n,m)&U(0xFFFFF)).astype(float)/2**20
    return e*(1+.01*j)
assert int(u(7,1,4,6)[3,5])==1852219437172703101
def top(x,k):
    o=np.lexsort((np.arange(len(x)),-x)); return np.sort(o[:k])
def automaton(seed,k,p,b,pres,nS,nQ,nA,nR,T,flips):
    toSym=W(seed,1,nA,nS,p); toSt=W(seed,2,nA,nQ,p); qA=W(seed,3,nQ,nA,p); rA=W(seed,4,nR,nA,p); RR=W(seed,5,nR,nR,p)
    B=lambda i:np.arange(i*k,(i+1)*k)
    for i in range(2): RR[np.ix_(B(i),B(i))]*=4
    coin=[]
    r=np.random.default_rng(seed)
    for _ in range(flips):
        f=np.sort(r.choice(nR,k,replace=False)); s=f.tolist(); first=top(RR[f].sum(0),k).tolist()
        for _ in range(10): f=top(RR[f].sum(0),k)
        coin.append(dict(start=s,first=first,end=f.tolist()))
    bias=np.zeros(nA); arcs=[]
    for t in range(pres):
        for (s,c,n,y) in T:
            x=qA[B(s)].sum(0)+rA[B(c)].sum(0); w=top(x-bias,k); bias[w]+=b*x[w]
            qA[np.ix_(B(s),w)]*=1+b; rA[np.ix_(B(c),w)]*=1+b; toSym[np.ix_(w,B(y))]*=1+b; toSt[np.ix_(w,B(n))]*=1+b
            if t==pres-1: arcs.append(w.tolist())
    cur=B(0); said=[]; states=[]
    for c in coin:
        w=top(qA[cur].sum(0)+rA[np.array(c['end'])].sum(0)-bias,k); cur=top(toSt[w].sum(0),k); sy=top(toSym[w].sum(0),k)
        said.append(sy.tolist()); states.append(cur.tolist())
    return dict(made_by="an independent numpy program in float64; synapses g1(seed, fibre), weights 1 + 0.01 jitter(seed, fibre+1000); fibres: 1 arc>symbol, 2 arc>state, 3 state>arc, 4 coin>arc, 5 coin>coin",
      seed=seed,k=k,p=p,beta=b,presentations=pres,symbols=nS,states=nQ,arcs=nA,coin=nR,table=T,flips=coin,last_arcs=arcs,said=said,visited=states,
      bias_sum=bias.sum(),sums=[toSym.sum(),toSt.sum(),qA.sum(),rA.sum(),RR.sum()])
T=[(0,0,1,0),(0,1,1,1),(1,0,2,2),(1,1,0,3),(2,0,0,4),(2,1,1,2)]
d=automaton(21,20,.3,.1,18,120,80,900,300,T,12)
json.dump(d,open('automaton.json','w'),separators=(',',':'))
