package io.varve.server.admin;

import io.varve.memory.Cache;
import io.varve.memory.MemoryCurve;
import io.varve.server.config.Decimals;

/** What INFO tells of the miss-ratio curve. Immutable: static methods only. */
final class CurveReport {
    private static final int RATIO_DECIMALS = 4;
    private static final int RATE_DECIMALS = 6;
    private static final String UNKNOWN = "-1";

    private CurveReport() {}

    /** A line if nothing is recorded; else the ratios predicted for half, one and two times the present maxmemory, and what they rest on. */
    static void write(InfoSection out, Cache cache) {
        MemoryCurve curve = cache.config().recordsAccesses() ? cache.curve(Cache.ALL_CLASSES) : null;
        out.field("mrc_tracking", curve == null ? 0 : 1);
        if (curve == null) {
            return;
        }
        long limit = cache.config().maxMemoryBytes();
        out.field("mrc_bytes", curve.recorderBytes()).field("mrc_accesses", curve.accesses())
                .field("mrc_draw_rate", Decimals.of(curve.drawRate(), RATE_DECIMALS))
                .field("mrc_followed_keys", curve.followedKeys())
                .field("mrc_largest_bytes", Math.round(curve.largestBytes()))
                .field("mrc_miss_ratio_half_maxmemory", ratio(curve, limit / 2.0))
                .field("mrc_miss_ratio_maxmemory", ratio(curve, limit))
                .field("mrc_miss_ratio_double_maxmemory", ratio(curve, 2.0 * limit));
    }

    private static String ratio(MemoryCurve curve, double maxMemoryBytes) {
        return curve.isKnown() ? Decimals.of(curve.missRatio(maxMemoryBytes), RATIO_DECIMALS) : UNKNOWN;
    }
}
