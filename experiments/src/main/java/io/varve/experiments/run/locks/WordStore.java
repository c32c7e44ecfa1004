package io.varve.experiments.run.locks;

/**
 * A store of words that threads share. Thread-safe; each thread opens an {@link Access} of its own.
 */
interface WordStore extends AutoCloseable {
    /** One thread's access. Confined to one thread at a time. */
    interface Access {
        /**
         * Reads the value of a word and uses its first byte.
         *
         * @param word number of the word
         * @return that byte, at least 0; -1 if the word has no value
         */
        int read(int word);

        /**
         * Stores a copy of the bytes as the value of a word.
         *
         * @param word number of the word
         * @param value bytes from 0 to 127
         */
        void write(int word, byte[] value);
    }

    /** Opens an access for a thread. */
    Access open();

    @Override
    void close();
}
