package io.varve.memory.locality.curve;

import java.util.Arrays;

/** The share of reads that miss under LRU, for each size of memory. Immutable. */
public final class MissRatioCurve {
    private final double[] sizes;
    private final double[] ratios;

    private MissRatioCurve(double[] sizes, double[] ratios) {
        this.sizes = sizes;
        this.ratios = ratios;
    }

    /** Builds a curve. Confined to one thread. */
    public static final class Builder {
        private final double[] sizes;
        private final double[] ratios;
        private int length = 1;

        /** @param points the most points, without the first one, at which all reads miss */
        public Builder(int points) {
            sizes = new double[points + 1];
            ratios = new double[points + 1];
            ratios[0] = 1;
        }

        /** Adds a point; points that would decrease in size or increase in ratio are clamped. */
        public void add(double bytes, double missRatio) {
            sizes[length] = Math.max(bytes, sizes[length - 1]);
            ratios[length] = Math.clamp(missRatio, 0, ratios[length - 1]);
            length++;
        }

        public MissRatioCurve build() {
            return new MissRatioCurve(Arrays.copyOf(sizes, length), Arrays.copyOf(ratios, length));
        }
    }

    /**
     * The share of reads that miss, 0 to 1, in a memory of this size, interpolated linearly between points.
     *
     * @param bytes 0 or more
     */
    public double missRatio(double bytes) {
        int last = sizes.length - 1;
        if (bytes >= sizes[last]) {
            return ratios[last];
        }
        int found = Arrays.binarySearch(sizes, bytes);
        if (found >= 0) {
            return ratios[found];
        }
        int above = -found - 1;
        double share = (bytes - sizes[above - 1]) / (sizes[above] - sizes[above - 1]);
        return ratios[above - 1] + share * (ratios[above] - ratios[above - 1]);
    }

    /** The size from which on more memory makes no known difference. */
    public double largestBytes() {
        return sizes[sizes.length - 1];
    }
}
