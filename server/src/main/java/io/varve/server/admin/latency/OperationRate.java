package io.varve.server.admin.latency;

/** Amounts per second, averaged over the last couple of seconds. Guarded by {@code this}. */
public final class OperationRate {
    private static final int SAMPLES = 16;

    private final long[][] perSecond;
    private final long[] last;
    private long lastNanos;
    private int next;
    private int held;

    /** @param series number of amounts */
    public OperationRate(int series) {
        perSecond = new long[series][SAMPLES];
        last = new long[series];
    }

    /** Takes the running totals, about every 100 ms. A total that decreased was reset. */
    public synchronized void sample(long nowNanos, long... totals) {
        long elapsed = nowNanos - lastNanos;
        if (lastNanos != 0 && elapsed > 0) {
            for (int i = 0; i < totals.length; i++) {
                long grown = Math.max(0, totals[i] - last[i]);
                perSecond[i][next] = (long) (grown * 1e9 / elapsed);
            }
            next = (next + 1) % SAMPLES;
            held = Math.min(SAMPLES, held + 1);
        }
        lastNanos = nowNanos;
        System.arraycopy(totals, 0, last, 0, totals.length);
    }

    /** The mean of the samples held. */
    public synchronized long perSecond(int series) {
        long sum = 0;
        for (int i = 0; i < held; i++) {
            sum += perSecond[series][i];
        }
        return held == 0 ? 0 : sum / held;
    }
}
