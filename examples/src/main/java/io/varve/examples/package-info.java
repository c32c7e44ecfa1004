/**
 * Example applications in their usual form: each is a class with a short API over a client of its kind, which knows
 * only the server's address. The README beside them explains what they show.
 */
@org.jspecify.annotations.NullMarked
package io.varve.examples;
