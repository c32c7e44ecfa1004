package io.varve.flash.mvstore;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;

import io.varve.flash.store.PrefetchingCursor;

/** A key cursor that reads the map without values. Confined to one thread at a time. */
final class MvKeyCursor extends PrefetchingCursor {
    private final MvStore store;

    MvKeyCursor(MvStore store) {
        this.store = store;
    }

    @Override
    protected Collection<byte[]> read(byte[] first, int max) {
        return store.call("walk", opened -> {
            List<byte[]> keys = new ArrayList<>(max);
            Iterator<byte[]> all = opened.keys().keyIterator(first);
            while (all.hasNext() && keys.size() < max) {
                keys.add(all.next());
            }
            return keys;
        });
    }
}
