package io.varve.memory.locality;

import java.util.Arrays;

/** For each size of memory the share of reads that miss there, under LRU. Immutable. */
public final class MissRatioCurve {
    private final double[] sizes;
    private final double[] ratios;

    private MissRatioCurve(double[] sizes, double[] ratios) {
        this.sizes = sizes;
        this.ratios = ratios;
    }

    /** Puts a curve together. Confined to one thread. */
    static final class Builder {
        private final double[] sizes;
        private final double[] ratios;
        private int length = 1;

        /** @param points at the most, the first, at which all reads miss, not counted */
        Builder(int points) {
            sizes = new double[points + 1];
            ratios = new double[points + 1];
            ratios[0] = 1;
        }

        /** Adds a point; none is smaller than the one before, and none has a higher ratio. */
        void add(double bytes, double missRatio) {
            sizes[length] = Math.max(bytes, sizes[length - 1]);
            ratios[length] = Math.clamp(missRatio, 0, ratios[length - 1]);
            length++;
        }

        MissRatioCurve build() {
            return new MissRatioCurve(Arrays.copyOf(sizes, length), Arrays.copyOf(ratios, length));
        }
    }

    /**
     * The share of reads that miss, 0 to 1, in a memory of this size; between two points of the curve on the line that joins them.
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

    /** From which size on more memory makes no difference, as far as anybody knows. */
    public double largestBytes() {
        return sizes[sizes.length - 1];
    }
}
