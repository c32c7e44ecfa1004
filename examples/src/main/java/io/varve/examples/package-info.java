/**
 * Applications as people write them: each a class with a short API over a client of its kind, and none that knows more of the server
 * than its address. What they show is in the README beside them.
 */
@org.jspecify.annotations.NullMarked
package io.varve.examples;
