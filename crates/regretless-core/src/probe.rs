use crate::*;
use std::time::Instant;
pub fn run() {
    let mut seed = 12345u64;
    let mut u = move || { seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); ((seed >> 11) as f64) / ((1u64<<53) as f64) };
    for (n, mh, ms) in [(40,40,20),(80,80,40),(160,160,80)] {
        let a = Matrix::from_fn(mh, n, |_,_| if u()<0.5 {u()} else {0.0});
        let c = Matrix::from_fn(ms, n, |_,_| if u()<0.5 {u()} else {0.0});
        let b: Vec<f64> = (0..mh).map(|i| 0.5*a.row(i).iter().sum::<f64>()).collect();
        let d: Vec<f64> = (0..ms).map(|i| 0.25*c.row(i).iter().sum::<f64>()).collect();
        let al: Vec<f64> = (0..ms).map(|_| 0.2*u()).collect();
        let p = Problem::maximize(n).soft("s", Soft::over(c,d,al)).at_most("a", a, b).build().unwrap();
        let o = Oracle::new(&p);
        let mut store = Store::with_budget(1<<30);
        let (mut tc, mut tw, mut tr) = (vec![], vec![], vec![]); let mut gap=0.0f64; let mut w=[0usize;6];let mut refs=0;
        for it in 0..60u64 {
            let th: Vec<f64> = (0..n).map(|_| u()).collect();
            let t = Instant::now();
            let r = o.solve_batch_warm(&[Instance::theta(&th)], &[it], &mut store).pop().unwrap().unwrap();
            tc.push(t.elapsed().as_secs_f64()*1e6);
            w[0]+=r.work.breakpoints; w[1]+=r.work.pivots; w[2]+=r.work.factorisations;
            if r.link!=Link::Path {refs+=1}
            assert!(r.is_optimal(), "{:?}", r.status);
            let v=p.view(&Instance::theta(&th)).unwrap();
            let t = Instant::now();
            let rf=reference::solve(&v);
            tr.push(t.elapsed().as_secs_f64()*1e6);
            gap=gap.max((v.objective(&rf.x)-r.objective)/r.objective.abs()).max(v.violation(&r.x));
            let th2: Vec<f64> = th.iter().map(|t| t + 0.02*(u()-0.5)).collect();
            let t = Instant::now();
            let r = o.solve_batch_warm(&[Instance::theta(&th2)], &[it], &mut store).pop().unwrap().unwrap();
            tw.push(t.elapsed().as_secs_f64()*1e6);
            w[3]+=r.work.breakpoints; w[4]+=r.work.pivots; w[5]+=r.work.factorisations;
        }
        for t in [&mut tc,&mut tw,&mut tr] {t.sort_by(f64::total_cmp);}
        println!("{n} oracle cold {:.0} warm {:.1} clarabel {:.0} gap {gap:.1e} refs {refs} work/60 {w:?}", tc[30], tw[30], tr[30]);
    }
}
