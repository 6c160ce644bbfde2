use crate::{problem::*, softened::*, workspace::*, path::*, Matrix, Work};
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
        for k in [0.2,1.0,5.0,25.0,125.0] {
            let view = p.view(&Instance::default()).unwrap();
            let mut s = Softened::new(&view);
            for i in 0..s.m() { s.laws[i] = if i<ms { Law::smooth(view.alpha[i],0.0,k)} else if i< ms+mh {Law::smooth(4.0,0.0,k)} else {Law::smooth(4.0,0.0,k)} }
            let mut ws = Workspace::new(n, s.m());
            let (mut tc, mut tw) = (vec![], vec![]); let (mut rc, mut rw) = (0.0f64,0.0f64); let mut wc=Work::default(); let mut ww=Work::default(); let mut bad=0;
            for _ in 0..200 {
                let th: Vec<f64> = (0..n).map(|_| u()).collect();
                let mut st = State::new(n, s.m());
                let t = Instant::now();
                ws.work = Work::default();
                s.excess(ws.kernel, &st.x, &mut ws.z);
                for i in 0..s.m() { st.piece[i] = s.laws[i].piece(ws.z[i]); }
                let mut path = Path::new(&s, &mut st, &mut ws);
                path.factorise();
                if path.run(&th) != Outcome::Arrived {bad+=1;}
                let r = ws.settle(&s, &mut st, &th);
                tc.push(t.elapsed().as_secs_f64()*1e6); rc=rc.max(r);
                wc.breakpoints += ws.work.breakpoints; wc.pivots += ws.work.pivots;
                let th2: Vec<f64> = th.iter().map(|t| t + 0.02*(u()-0.5)).collect();
                let t = Instant::now();
                ws.work = Work::default();
                s.excess(ws.kernel, &st.x, &mut ws.z);
                let mut path = Path::new(&s, &mut st, &mut ws);
                if path.run(&th2) != Outcome::Arrived {bad+=1;}
                let r = ws.settle(&s, &mut st, &th2);
                tw.push(t.elapsed().as_secs_f64()*1e6); rw=rw.max(r);
                ww.breakpoints += ws.work.breakpoints; ww.pivots += ws.work.pivots;
            }
            tc.sort_by(f64::total_cmp); tw.sort_by(f64::total_cmp);
            println!("{n} K={k}: cold {:.0}us bp {} piv {} res {rc:.1e}| warm {:.1}us bp {:.2} piv {:.2} res {rw:.1e} bad {bad}", tc[100], wc.breakpoints/200, wc.pivots/200, tw[100], ww.breakpoints as f64/200., ww.pivots as f64/200.);
        }
    }
}
