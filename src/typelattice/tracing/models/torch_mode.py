"""The mode of PyTorch's dispatcher that runs each operation as it is, and reports it to an observer."""

from __future__ import annotations

import sys
from functools import cache
from threading import get_ident
from typing import Any, Protocol

from typelattice.tracing.rewrite.hidden_frames import hide_frame

MODULE = "torch"
OPERATOR_NAMESPACE = "aten"
COMPOSITE = "CompositeImplicitAutograd"  # the kernel of operations that only call others
BACKENDS = ("CPU", "CUDA", "MPS", "XPU")


class Observer(Protocol):
    """An observer of operations. It gets those that ran, and those that raised an error."""

    is_recording: bool

    def prepare(self, function: Any, args: Any, keywords: Any) -> Any:
        """Look at an operation that is about to run. What it returns is noted with the result."""

    def note(self, function: Any, args: Any, keywords: Any, result: Any, before: Any) -> None:
        """Note an operation that has run."""

    def note_error(self, function: Any, args: Any, keywords: Any, error: BaseException) -> None:
        """Note an operation that raised an error."""


def enter_mode(observer: Observer) -> Any:
    """Let the dispatcher of this thread report to an observer, and return the mode."""
    mode = _mode_class()(observer)
    mode.__enter__()
    return mode


def leave_mode(mode: Any, thread: int) -> None:
    """Leave a mode that a thread entered. It stays, without effect, below one that the program has left."""
    dispatch: Any = sys.modules[MODULE].utils._python_dispatch
    if get_ident() == thread and dispatch._get_current_dispatch_mode() is mode:
        mode.__exit__(None, None, None)


@cache
def _mode_class() -> Any:
    """Return the class of the mode. PyTorch has to be loaded."""
    torch: Any = sys.modules[MODULE]
    base: Any = torch.utils._python_dispatch.TorchDispatchMode
    compiler: Any = torch._C._dynamo.eval_frame
    push, pop = torch._C._push_on_torch_dispatch_stack, torch._C._pop_torch_dispatch_stack
    composite = getattr(torch._C.DispatchKey, COMPOSITE)

    class Mode(base):  # type: ignore[misc]  # its base is known at run time alone
        supports_higher_order_operators = True

        def __init__(self, observer: Observer) -> None:
            super().__init__()
            self.observer = observer

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # the class would else load the compiler

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True

        @hide_frame
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            keywords = kwargs or {}
            observer = self.observer
            call = getattr(function, "_op", function)
            if not observer.is_recording:
                return call(*args, **keywords)
            if _is_composite(function):
                push(self)  # its kernel calls the operations that it is made of, which come here
                try:
                    return function._op_dk(composite, *args, **keywords)
                finally:
                    pop(None)
            before = observer.prepare(function, args, keywords)
            try:
                result = call(*args, **keywords)
            except BaseException as e:
                observer.note_error(function, args, keywords, e)
                raise
            compiling = compiler.set_eval_frame(None)  # else the compiler would read our own code
            try:
                observer.note(function, args, keywords, result, before)
            finally:
                compiler.set_eval_frame(compiling)
            return result

    _leave_uncompiled(compiler, Mode.__torch_dispatch__.__code__)
    return Mode


@cache
def _is_composite(function: Any) -> bool:
    """Return True for an operation that runs by calling others, and that was not taken apart before.

    Outside of inference mode PyTorch takes it apart before it comes here.
    """
    if getattr(function, "namespace", "") != OPERATOR_NAMESPACE:
        return False
    torch: Any = sys.modules[MODULE]
    has_kernel, name = torch._C._dispatch_has_kernel_for_dispatch_key, function.name()
    return has_kernel(name, COMPOSITE) and not any(has_kernel(name, each) for each in BACKENDS)


def _leave_uncompiled(compiler: Any, code: Any) -> None:
    """Let PyTorch's compiler run our code as it is. Until PyTorch 2.6 the function has another name."""
    if hasattr(compiler, "set_code_exec_strategy"):
        action = compiler._FrameAction
        compiler.set_code_exec_strategy(code, compiler._FrameExecStrategy(action.SKIP, action.DEFAULT))
    else:
        compiler.skip_code(code)
