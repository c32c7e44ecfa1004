package io.varve.proxy.route;

import java.util.concurrent.atomic.LongAdder;

/** Counts what happens to requests on their way. Thread-safe. */
public final class RouteStatistics {
    final LongAdder moved = new LongAdder();
    final LongAdder asked = new LongAdder();
    final LongAdder delayed = new LongAdder();
    final LongAdder retriedReads = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder copyReads = new LongAdder();
    final LongAdder copyFallbacks = new LongAdder();

    /** The fields of INFO. */
    public String fields() {
        return "redirected_moved:" + moved.sum() + "\r\nredirected_ask:" + asked.sum() + "\r\ndelayed_retries:"
                + delayed.sum() + "\r\nretried_reads:" + retriedReads.sum() + "\r\nfailed_requests:" + failed.sum()
                + "\r\ncopy_reads:" + copyReads.sum() + "\r\ncopy_fallbacks:" + copyFallbacks.sum() + "\r\n";
    }
}
