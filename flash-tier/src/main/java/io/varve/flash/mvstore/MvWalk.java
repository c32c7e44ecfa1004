package io.varve.flash.mvstore;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;

import io.varve.flash.store.PrefetchingCursor;

/** A key cursor that reads the map without values. Confined to one thread at a time. */
final class MvWalk extends PrefetchingCursor {
    private final MvStore store;

    MvWalk(MvStore store) {
        this.store = store;
    }

    @Override
    protected Collection<byte[]> read(byte[] first, int most) {
        return store.call("walk", opened -> {
            List<byte[]> keys = new ArrayList<>(most);
            Iterator<byte[]> all = opened.keys().keyIterator(first);
            while (all.hasNext() && keys.size() < most) {
                keys.add(all.next());
            }
            return keys;
        });
    }
}
