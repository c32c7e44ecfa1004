package io.varve.experiments.curve;

import site.ycsb.generator.NumberGenerator;
import site.ycsb.generator.ZipfianGenerator;

/** The distribution of item sizes. Immutable; the generators that it creates are confined to one thread. */
enum ItemSizes {
    /** All items are alike, and are counted. */
    ALIKE {
        @Override
        NumberGenerator open() {
            return new ConstantSize(1);
        }
    },
    /** YCSB's record: ten fields with zipfian lengths up to 100 bytes, and a key. */
    FIELDS {
        @Override
        NumberGenerator open() {
            return new SumOfFields(KEY_BYTES, FIELD_COUNT, new ZipfianGenerator(1, FIELD_BYTES));
        }
    },
    /** One field, zipfian up to 64 KB: most items have some hundred bytes or fewer, most bytes are in large ones. */
    WIDE {
        @Override
        NumberGenerator open() {
            return new SumOfFields(KEY_BYTES, 1, new ZipfianGenerator(1, WIDEST_FIELD_BYTES));
        }
    };

    private static final int KEY_BYTES = 24;
    private static final int FIELD_COUNT = 10;
    private static final int FIELD_BYTES = 100;
    private static final int WIDEST_FIELD_BYTES = 1 << 16;

    /** Creates a generator of item sizes in bytes. */
    abstract NumberGenerator open();

    private static final class ConstantSize extends NumberGenerator {
        private final long bytes;

        ConstantSize(long bytes) {
            this.bytes = bytes;
        }

        @Override
        public Long nextValue() {
            return bytes;
        }

        @Override
        public double mean() {
            return bytes;
        }
    }

    private static final class SumOfFields extends NumberGenerator {
        private final long constant;
        private final int fields;
        private final NumberGenerator field;

        SumOfFields(long constant, int fields, NumberGenerator field) {
            this.constant = constant;
            this.fields = fields;
            this.field = field;
        }

        @Override
        public Long nextValue() {
            long bytes = constant;
            for (int i = 0; i < fields; i++) {
                bytes += field.nextValue().longValue();
            }
            return bytes;
        }

        @Override
        public double mean() {
            return constant + fields * field.mean();
        }
    }
}
