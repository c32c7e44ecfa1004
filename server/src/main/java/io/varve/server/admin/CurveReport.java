package io.varve.server.admin;

import io.varve.memory.Cache;
import io.varve.memory.report.MemoryCurve;
import io.varve.server.config.Decimals;

/** Writes the miss-ratio curve's fields of INFO. Immutable: static methods only. */
final class CurveReport {
    private static final int RATIO_DECIMALS = 4;
    private static final int RATE_DECIMALS = 6;
    private static final String UNKNOWN = "-1";

    private CurveReport() {}

    /**
     * Writes one field if nothing is recorded; else the predicted ratios for half, one and two times the current
     * maxmemory, and their basis.
     */
    static void write(InfoSection out, Cache cache) {
        MemoryCurve curve = cache.config().recordsAccesses() ? cache.curve(MemoryCurve.ALL_CLASSES) : null;
        out.field("mrc_tracking", curve == null ? 0 : 1);
        if (curve == null) {
            return;
        }
        long limit = cache.config().maxMemoryBytes();
        out.field("mrc_bytes", curve.recorderBytes()).field("mrc_accesses", curve.accesses())
                .field("mrc_draw_rate", Decimals.of(curve.samplingRate(), RATE_DECIMALS))
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
